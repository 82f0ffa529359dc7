// Threads that the interpreter ends while the program ends.
//
// A daemon thread that wants to go on while the interpreter is being finalized is ended by pthread_exit. That unwinds
// its stack, and with it frames of ours, whose objects then touch Python without holding its lock, or which must not be
// unwound at all: the process crashes. From 3.14 on Python lets such threads wait for the end of the process. Here they
// do so on older versions, too: what the interpreter calls is exchanged in the table by which it finds functions of
// other libraries. Other C libraries than glibc unwind nothing.
#include "ending_threads.hpp"

#include <Python.h>

#if defined(__linux__) && defined(__LP64__) && PY_VERSION_HEX < 0x030E0000
#include <features.h>
#endif

#if defined(__GLIBC__) && defined(__LP64__) && PY_VERSION_HEX < 0x030E0000

#include <link.h>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace mopsus::python {

namespace {

using Slot = void (*)(void*);

bool is_finalizing() {
#if PY_VERSION_HEX >= 0x030D0000
    return Py_IsFinalizing() != 0;
#else
    return _Py_IsFinalizing() != 0;
#endif
}

void end_thread(void* value) {
    while (is_finalizing()) pause();
    pthread_exit(value);
}

// The interpreter: the program itself, or a library.
struct Object {
    std::uintptr_t base = 0;
    const ElfW(Phdr) * dynamic = nullptr;
    const ElfW(Phdr) * protected_later = nullptr;  // what the loader makes read-only when it has done its work

    std::uintptr_t address(ElfW(Addr) given) const { return given < base ? base + given : given; }
};

int find_interpreter(dl_phdr_info* info, std::size_t, void* found) {
    const auto inside = reinterpret_cast<std::uintptr_t>(&PyEval_RestoreThread);
    Object object{.base = info->dlpi_addr};
    bool has = false;
    for (const auto& part : std::span(info->dlpi_phdr, info->dlpi_phnum)) {
        const std::uintptr_t begin = object.base + part.p_vaddr;
        if (part.p_type == PT_LOAD) has |= begin <= inside && inside < begin + part.p_memsz;
        if (part.p_type == PT_DYNAMIC) object.dynamic = &part;
        if (part.p_type == PT_GNU_RELRO) object.protected_later = &part;
    }
    if (!has || object.dynamic == nullptr) return 0;
    *static_cast<Object*>(found) = object;
    return 1;
}

void put(const Object& object, Slot* slot) {
    const auto at = reinterpret_cast<std::uintptr_t>(slot);
    const auto size = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
    void* page = reinterpret_cast<void*>(at / size * size);
    const ElfW(Phdr)* part = object.protected_later;
    const bool locked = part != nullptr && at - (object.base + part->p_vaddr) < part->p_memsz;
    if (locked && mprotect(page, size, PROT_READ | PROT_WRITE) != 0) return;
    *slot = end_thread;
    if (locked) mprotect(page, size, PROT_READ);
}

}  // namespace

void let_ended_threads_wait() {
    Object object;
    if (dl_iterate_phdr(find_interpreter, &object) == 0) return;
    const char* names = nullptr;
    const ElfW(Sym)* symbols = nullptr;
    const ElfW(Rela) * tables[] = {nullptr, nullptr};
    std::size_t sizes[] = {0, 0};
    bool addends = true;
    for (auto* entry = reinterpret_cast<const ElfW(Dyn)*>(object.base + object.dynamic->p_vaddr);
         entry->d_tag != DT_NULL; ++entry) {
        const std::uintptr_t address = object.address(entry->d_un.d_ptr);
        switch (entry->d_tag) {
            case DT_STRTAB: names = reinterpret_cast<const char*>(address); break;
            case DT_SYMTAB: symbols = reinterpret_cast<const ElfW(Sym)*>(address); break;
            case DT_JMPREL: tables[0] = reinterpret_cast<const ElfW(Rela)*>(address); break;
            case DT_PLTRELSZ: sizes[0] = entry->d_un.d_val; break;
            case DT_PLTREL: addends = entry->d_un.d_val == DT_RELA; break;
            case DT_RELA: tables[1] = reinterpret_cast<const ElfW(Rela)*>(address); break;
            case DT_RELASZ: sizes[1] = entry->d_un.d_val; break;
            default: break;
        }
    }
    if (names == nullptr || symbols == nullptr || !addends) return;
    for (const std::size_t k : {0, 1}) {
        if (tables[k] == nullptr) continue;
        for (const auto& each : std::span(tables[k], sizes[k] / sizeof(ElfW(Rela)))) {
            const char* name = names + symbols[ELF64_R_SYM(each.r_info)].st_name;
            if (std::strcmp(name, "pthread_exit") == 0)
                put(object, reinterpret_cast<Slot*>(object.base + each.r_offset));
        }
    }
}

}  // namespace mopsus::python

#else

namespace mopsus::python {

void let_ended_threads_wait() {}

}  // namespace mopsus::python

#endif
