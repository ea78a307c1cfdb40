#===- EmbedText.cmake - a text file as a C++ raw string -----------------------===#
# Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#===--------------------------------------------------------------------------===#
#   cmake -DINPUT=page.md -DOUTPUT=page.inc -P EmbedText.cmake
file(READ "${INPUT}" text)
file(WRITE "${OUTPUT}" "R\"embedded(${text})embedded\"\n")
