//===- HostObject.cpp - a module as an object file ------------------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// In: the bytes of a module. Out: a relocatable ELF file of six sections, in which they are
// .rodata as they are:
//
//   (none)  .rodata  .symtab  .strtab  .shstrtab  .note.GNU-stack
//
// There is no code in it and nothing to relocate, so no backend is needed, and no C++ compiler
// reads megabytes of numbers.
//
//===------------------------------------------------------------------------===//
#include "tilec/Compiler/HostCode.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/BinaryFormat/ELF.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/SwapByteOrder.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/Triple.h"

#include <array>
#include <cstring>

using namespace llvm;
using namespace llvm::ELF;

std::string tilec::moduleNameOf(StringRef input) {
  std::string name;
  for (char c : sys::path::filename(input).split('.').first)
    name += isAlnum(c) ? c : '_';
  if (name.empty() || name == "_") // standard input
    return "kernels";
  return isDigit(name.front()) ? "_" + name : name;
}

/// Where an object is for this machine, the number that ELF has for it.
static std::optional<uint16_t> machineOfHost() {
  Triple host(sys::getProcessTriple());
  if (!host.isOSBinFormatELF())
    return std::nullopt;
  switch (host.getArch()) {
  case Triple::x86_64:
    return EM_X86_64;
  case Triple::aarch64:
    return EM_AARCH64;
  default:
    return std::nullopt;
  }
}

namespace {

/// Names one behind the other, as string tables have them.
class NameTable {
public:
  uint32_t add(StringRef name) {
    uint32_t offset = uint32_t(text.size());
    text += name.str() + '\0';
    return offset;
  }
  std::string text = std::string(1, '\0');
};

} // namespace

template <typename T> static void append(std::string &bytes, const T &value) {
  bytes.append(reinterpret_cast<const char *>(&value), sizeof value);
}

std::optional<std::string> tilec::writeHostObject(StringRef name, StringRef module) {
  std::optional<uint16_t> machine = machineOfHost();
  if (!machine)
    return std::nullopt;
  enum { Null, RoData, SymTab, StrTab, ShStrTab, Stack, NumSections };
  NameTable symbolNames, sectionNames;

  std::string symbols;
  append(symbols, Elf64_Sym{});
  auto addSymbol = [&](const Twine &symbol, uint64_t value, uint64_t size) {
    Elf64_Sym entry = {};
    entry.st_name = symbolNames.add(symbol.str());
    entry.setBindingAndType(STB_GLOBAL, STT_OBJECT);
    entry.st_shndx = RoData;
    entry.st_value = value;
    entry.st_size = size;
    append(symbols, entry);
  };
  addSymbol("tilec_module_" + name, 0, module.size());
  addSymbol("tilec_module_end_" + name, module.size(), 1);

  std::string file(sizeof(Elf64_Ehdr), '\0');
  std::array<Elf64_Shdr, NumSections> sections = {};
  auto addSection = [&](unsigned number, uint32_t sectionName, uint32_t type, uint64_t flags,
                        StringRef bytes, uint64_t alignment) {
    file.resize(alignTo(file.size(), alignment));
    Elf64_Shdr &header = sections[number];
    header.sh_name = sectionName;
    header.sh_type = type;
    header.sh_flags = flags;
    header.sh_offset = file.size();
    header.sh_size = bytes.size();
    header.sh_addralign = alignment;
    file += bytes;
  };
  // A byte behind it, where the end is.
  addSection(RoData, sectionNames.add(".rodata"), SHT_PROGBITS, SHF_ALLOC, module.str() + '\0', 16);
  addSection(SymTab, sectionNames.add(".symtab"), SHT_SYMTAB, 0, symbols, 8);
  sections[SymTab].sh_link = StrTab;
  sections[SymTab].sh_info = 1; // the first that is global
  sections[SymTab].sh_entsize = sizeof(Elf64_Sym);
  addSection(StrTab, sectionNames.add(".strtab"), SHT_STRTAB, 0, symbolNames.text, 1);
  addSection(Stack, sectionNames.add(".note.GNU-stack"), SHT_PROGBITS, 0, "", 1);
  uint32_t ownName = sectionNames.add(".shstrtab");
  addSection(ShStrTab, ownName, SHT_STRTAB, 0, sectionNames.text, 1);

  file.resize(alignTo(file.size(), 8));
  Elf64_Ehdr header = {};
  std::memcpy(header.e_ident, ElfMagic, 4);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_DATA] = sys::IsLittleEndianHost ? ELFDATA2LSB : ELFDATA2MSB;
  header.e_ident[EI_VERSION] = EV_CURRENT;
  header.e_type = ET_REL;
  header.e_machine = *machine;
  header.e_version = EV_CURRENT;
  header.e_shoff = file.size();
  header.e_ehsize = sizeof(Elf64_Ehdr);
  header.e_shentsize = sizeof(Elf64_Shdr);
  header.e_shnum = NumSections;
  header.e_shstrndx = ShStrTab;
  std::memcpy(file.data(), &header, sizeof header);
  for (const Elf64_Shdr &section : sections)
    append(file, section);
  return file;
}
