"""The recipes that come with Rookery, as TOML files; `rookery recipes` lists them."""
