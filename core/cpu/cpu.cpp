// The Python module rookery._cpu: the best level of the native module that this CPU can run.
//
// Compiled for any CPU and without nanobind, since it is asked before a level is chosen. The levels
// are those of CMakeLists.txt; base/levels.py chooses.

#define PY_SSIZE_T_CLEAN
#include <Python.h>

namespace {

const char* level_of_this_cpu() {
#if defined(__x86_64__) && (defined(__GNUC__) || defined(__clang__))
    // These also ask whether the operating system saves the wide registers.
    __builtin_cpu_init();
    if (__builtin_cpu_supports("x86-64-v4")) return "avx512";
    if (__builtin_cpu_supports("x86-64-v3")) return "avx2";
#endif
    return "baseline";
}

PyObject* level(PyObject*, PyObject*) { return PyUnicode_FromString(level_of_this_cpu()); }

PyMethodDef METHODS[] = {
    {"level", level, METH_NOARGS, "The best level that this CPU can run."},
    {nullptr, nullptr, 0, nullptr},
};

PyModuleDef MODULE = {
    PyModuleDef_HEAD_INIT, "_cpu", nullptr, 0, METHODS, nullptr, nullptr, nullptr, nullptr};

}  // namespace

PyMODINIT_FUNC PyInit__cpu() { return PyModule_Create(&MODULE); }
