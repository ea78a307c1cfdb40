//===- Memory.cpp - loads and stores of tiles ------------------------*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===------------------------------------------------------------------------===//
//
// In: tile.load, tile.store. Out: per thread, one access for each group of registers
// that lie side by side in memory (ArrayTile.h), wide where that may be.
//
//   loads   read `pad` in constant memory instead of what does not exist: no branches,
//           all loads of a tile are issued together, nothing is selected afterwards
//           elements that a load of this block has brought before, from an array that nobody
//           writes, are not read again: places of filters and stencils overlap
//   stores  are skipped by branches, unless the whole tile is inside (one uniform test;
//           not in the general build, which is kept short)
//
//===------------------------------------------------------------------------===//
#include "ArrayTile.h"

#include "tilec/Atoms/ThreadCode.h"
#include "tilec/Tile/Accesses.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace tilec;

//===------------------------------------------------------------------------===//
// In runs
//===------------------------------------------------------------------------===//

bool Emitter::hasRuns(tile::LoadOp op) {
  if (isAligned16 || !isa<RankedTensorType>(op.getType()) || !tile::canComeInRuns(op))
    return false;
  ArrayTile access(*this, op, op.getType());
  auto pad = storedPad(op.getPadValue(), access.stored);
  bool isZero = isa<FloatAttr>(pad) ? cast<FloatAttr>(pad).getValue().isPosZero()
                                    : cast<IntegerAttr>(pad).getValue().isZero();
  return isZero && access.chooseRuns();
}

Value Emitter::emitHasRoom(tile::LoadOp op) {
  ArrayTile access(*this, op, op.getType());
  access.explainRuns(op, op.getArray());
  return access.hasRoom();
}

Value Emitter::emitLoaded(tile::LoadOp op, bool inRuns) {
  ArrayTile access(*this, op, op.getType());
  if (inRuns)
    access.chooseRuns();
  access.prepare();
  if (inRuns)
    return fromElements(access.readRuns());
  TypedAttr pad = storedPad(op.getPadValue(), access.stored);
  return fromElements(emitGroupLoads(builder, loc, access.groups(access.needsChecks(), false),
                                     access.stored, access.layoutOrNull(), pad));
}

//===------------------------------------------------------------------------===//
// Elements that several loads have
//===------------------------------------------------------------------------===//

SmallVector<Value> Emitter::emitMissing(ArrayTile &access, ArrayRef<AccessGroup> groups, TypedAttr pad) {
  SmallVector<AccessGroup> missing;
  SmallVector<std::pair<int64_t, Value>> known;
  SmallVector<std::pair<int64_t, ElementPlace>> added;
  for (const AccessGroup &group : groups) {
    SmallVector<ElementPlace> places = access.placesOf(group, pad);
    SmallVector<Value> found;
    for (const ElementPlace &place : places)
      if (auto it = loadedElements.find(place);
          it != loadedElements.end() && it->second.getParentBlock() == builder.getInsertionBlock())
        found.push_back(it->second);
    bool isKnown = !places.empty() && found.size() == places.size();
    if (!isKnown)
      missing.push_back(group);
    for (auto [number, element] : llvm::enumerate(places))
      if (isKnown)
        known.push_back({group.registers[number], found[number]});
      else
        added.push_back({group.registers[number], element});
  }
  const Layout *layout = access.layoutOrNull();
  SmallVector<Value> elements = emitGroupLoads(builder, loc, missing, access.stored, layout, pad);
  for (auto [number, value] : known)
    elements[size_t(number)] = value;
  for (auto &[number, place] : added)
    loadedElements[place] = elements[size_t(number)];
  if (layout && !known.empty())
    fillCopies(elements, *layout);
  return elements;
}

//===------------------------------------------------------------------------===//
// tile.load
//===------------------------------------------------------------------------===//

LogicalResult Emitter::emitLoad(tile::LoadOp op) {
  ArrayTile access(*this, op, op.getType());
  access.chooseVectors();
  access.explain(op, op.getArray());
  access.prepare();
  Type element = op.getArray().getType().getElementType();
  TypedAttr pad = storedPad(op.getPadValue(), access.stored);
  uint64_t count = access.isScalar() ? 1 : access.layoutOrNull()->size(Input::Register);

  auto read = [&](OpBuilder &body, bool isChecked, bool isVector) {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPoint(body.getInsertionBlock(), body.getInsertionPoint());
    return emitGroupLoads(builder, loc, access.groups(isChecked, isVector), access.stored,
                          access.layoutOrNull(), pad);
  };
  SmallVector<Value> elements;
  if (access.isInPieces()) {
    elements = access.readPieces(pad);
    set(op, emitFromStored(builder, loc, fromElements(elements), element));
    return success();
  }
  if (access.mayStraddle() && access.isWhollyInside()) {
    // Whole tiles wide; the last one element by element.
    auto type = VectorType::get(int64_t(count), access.stored);
    auto branch = scf::IfOp::create(
        builder, loc, access.isWhollyInside(),
        [&](OpBuilder &body, Location) {
          auto wide = vector::FromElementsOp::create(body, loc, type, read(body, false, true));
          scf::YieldOp::create(body, loc, ValueRange(wide));
        },
        [&](OpBuilder &body, Location) {
          auto narrow =
              vector::FromElementsOp::create(body, loc, type, read(body, true, false));
          scf::YieldOp::create(body, loc, ValueRange(narrow));
        });
    set(op, emitFromStored(builder, loc, branch.getResult(0), element));
    return success();
  }
  elements = emitMissing(access, access.groups(access.needsChecks(), true), pad);
  Value stored = access.isScalar() ? elements[0] : fromElements(elements);
  set(op, emitFromStored(builder, loc, stored, element));
  return success();
}

//===------------------------------------------------------------------------===//
// tile.store
//===------------------------------------------------------------------------===//

Value Emitter::emitIsWriter(const Layout *layout) {
  if (layout)
    return emitIsFirstCopy(builder, loc, *layout, thread);
  return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, thread, i32(0));
}

LogicalResult Emitter::emitStore(tile::StoreOp op) {
  ArrayTile access(*this, op, op.getValue().getType());
  access.chooseVectors();
  access.explain(op, op.getArray());
  access.prepare();
  Type element = op.getArray().getType().getElementType();
  Value value = emitToStored(builder, loc, get(op.getValue()), element);

  auto writeGroup = [&](const AccessGroup &group) {
    Value stored = value;
    if (!access.isScalar())
      stored = group.registers.size() == 1
                   ? extract(value, group.registers[0])
                   : emitShuffle(builder, loc, value, group.registers);
    emitUnder(group.guard, [&] {
      LLVM::StoreOp::create(builder, loc, stored, group.address, access.alignment(group));
    });
  };
  auto write = [&](bool isChecked, bool isVector) {
    for (AccessGroup &group : access.groups(isChecked, isVector))
      writeGroup(group);
  };
  auto writePieces = [&] {
    for (AccessGroup &group : access.groups(/*isChecked=*/false, /*isVector=*/true))
      emitUnder(access.someExist(group), [&] {
        auto all = access.allExist(group);
        emitUnder(
            all, [&] { writeGroup(group); },
            [&] { llvm::for_each(access.elementsOf(group), writeGroup); });
      });
  };

  // One thread writes each element.
  emitUnder(emitIsWriter(access.layoutOrNull()), [&] {
    if (access.isInPieces()) {
      writePieces();
    } else if (Value guard = access.uniformGuard()) {
      emitUnder(guard, [&] { write(false, true); });
    } else if (access.needsChecks() && !isAligned16) {
      write(true, false); // short code: it is the build that is seldom taken
    } else if (access.needsChecks()) {
      emitUnder(
          access.isWhollyInside(), [&] { write(false, true); },
          [&] { write(true, !access.mayStraddle()); });
    } else {
      write(false, true);
    }
  });
  return success();
}
