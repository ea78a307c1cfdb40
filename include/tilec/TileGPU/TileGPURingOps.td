//===- TileGPURingOps.td - rings, asynchronous products, roles --*- tablegen -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===--------------------------------------------------------------------------===//
//
// What runs while threads do something else: copies into rings, products that
// complete later, stores of whole tiles, and warps with a part of their own.
//
//   %ring = tgpu.ring copy "tma" : !tgpu.ring<4 x [!tgpu.buffer<…>, !tgpu.buffer<…>]>
//   tgpu.specialize access {
//     scf.for %k … { tgpu.push %ring {
//                      tgpu.copy %a[%m, %k] to 0 : …
//                      tgpu.copy %b[%k, %n] to 1 : … } }
//   } execute {
//     scf.for %k … { %x, %y = tgpu.pop %ring : …
//                    %r = tgpu.mma %x, %y, %s {atom = "…"} : …
//                    %w = tgpu.mma_wait %r pending 0 : …
//                    tgpu.release %ring : … }
//   }
//
// Included by TileGPUOps.td.
//
//===--------------------------------------------------------------------------===//

def TileGPU_RingType : TypeDef<TileGPU_Dialect, "Ring"> {
  let mnemonic = "ring";
  let summary = "A queue of groups of tiles in shared memory";
  let description = [{
    `!tgpu.ring<4 x [!tgpu.buffer<…>, !tgpu.buffer<…>]>` has four places; each holds
    the tiles of one group of loads, which are consumed together. `!tgpu.buffer<…> as 0`
    is another view of the bytes of slot 0: transposed for one, or of a tile that comes
    instead of the group now and then.
  }];
  let parameters = (ins "int64_t":$stages, ArrayRefParameter<"::mlir::Type">:$buffers,
                        ArrayRefParameter<"int64_t">:$owners);
  let builders = [TypeBuilder<(ins "int64_t":$stages,
                                   "::llvm::ArrayRef<::mlir::Type>":$buffers)>];
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    BufferType getBuffer(unsigned slot) const {
      return ::llvm::cast<BufferType>(getBuffers()[slot]);
    }
    /// The buffer is a view of the bytes of another slot.
    bool isView(unsigned slot) const { return getOwners()[slot] != int64_t(slot); }
    RingType withStages(int64_t stages) const {
      return get(getContext(), stages, getBuffers(), getOwners());
    }
    /// Where the buffer of `slot` begins in a place, in bytes: each a multiple of 1024.
    int64_t getSlotOffset(unsigned slot) const;
    /// Bytes from one place to the next.
    int64_t getStageBytes() const { return getSlotOffset(getBuffers().size()); }
    int64_t getBytes() const { return getStages() * getStageBytes(); }
    /// Bytes of one group.
    int64_t getGroupBytes() const;
  }];
}

defvar TileGPU_RingOperand = Arg<TileGPU_RingType, "", [MemRead, MemWrite]>;

def TileGPU_RingOp : TileGPU_Op<"ring"> {
  let summary = "A queue between copies and what consumes them";
  let description = [{
    Groups are pushed, popped and released in the same order, each thread at its own
    pace; where each thread stands is state of the ring, not a value. A push waits
    until a place is free, a pop until its group is there.

    `copy` says who moves the bytes: "tma", the copy engine, told by one thread; "warps",
    warps that only copy, from arrays whose rows begin at words; or "cp_async", asynchronous
    copies of all threads. `offset` and `barriers` are bytes from the start of the block's
    shared memory, set by AllocateMemory.

    - ring-C1: `copy` is "tma", "warps" or "cp_async".
    - ring-C2: the ring is a value of the kernel's outermost block, so that all
      threads meet where it is made.
  }];
  let arguments = (ins StrAttr:$copy, OptionalAttr<I64Attr>:$offset,
                       OptionalAttr<I64Attr>:$barriers);
  let results = (outs Res<TileGPU_RingType, "", [MemAlloc]>:$ring);
  let assemblyFormat = [{
    `copy` $copy (`offset` $offset^)? (`barriers` $barriers^)? attr-dict
    `:` qualified(type($ring))
  }];
  let extraClassDeclaration = [{
    /// All threads of the block copy; else the engine does, or warps that do nothing else.
    bool isFilledByThreads() { return getCopy() == "cp_async"; }
  }];
  let hasVerifier = 1;
}

def TileGPU_PushOp : TileGPU_Op<"push", [
    SingleBlock, NoTerminator, NoRegionArguments]> {
  let summary = "Start the copies of the next group";
  let description = [{
    Waits for a free place, then starts the copies of the region, one `tgpu.copy` or
    `tgpu.copy_gathered` per slot of the ring.

    - push-C1: the region has one copy for each slot that is no view, or copies to views
      of different slots, and nothing else.
  }];
  let arguments = (ins TileGPU_RingOperand:$ring);
  let regions = (region SizedRegion<1>:$copies);
  let assemblyFormat = "$ring attr-dict `:` qualified(type($ring)) $copies";
  let hasVerifier = 1;
}

def TileGPU_CopyOp : TileGPU_Op<"copy", [HasParent<"PushOp">, MemoryEffects<[MemWrite]>]> {
  let summary = "A tile of an array on its way to shared memory";
  let description = [{
    `order` says for each dim of the buffer along which array dim it runs; along the
    other dims the tile is one element wide. Indices are one for each array dim, in
    their order; they count tiles, or elements where it says so. What lies outside the
    array is zero. `multicast`: the tile is the same in all blocks of the cluster,
    which share the work.

    `shape`, when given: the copied tile has these dims, which `order` is about, and the
    buffer has its elements in their row-major order.

    `once within`: as long as the grid has no more positions than so many along each of its
    axes (0: any number), every tile is read once, and caches need not keep it.

    - copy-C1: there is one index per array dim.
    - copy-C2: `order` names, without repeating, one array dim for each of the buffer, or
      of `shape`.
    - copy-C3: `once within` has a number for each of one to three axes, none negative.
    - copy-C4: `shape` has as many elements as the buffer, powers of two along each dim.
  }];
  let arguments = (ins
    Arg<Tile_Array, "", [MemRead]>:$array, Variadic<Index>:$index, I64Attr:$slot,
    DenseI64ArrayAttr:$order, OptionalAttr<DenseI64ArrayAttr>:$shape, UnitAttr:$elements,
    UnitAttr:$multicast, OptionalAttr<DenseI64ArrayAttr>:$onceWithin);
  let assemblyFormat = [{
    $array `[` $index `]` (`elements` $elements^)? `order` $order (`shape` $shape^)?
    (`multicast` $multicast^)? (`once` `within` $onceWithin^)? `to` $slot attr-dict `:` custom<ArrayType>(type($array))
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    BufferType getBuffer();
    /// The copied tile's dims, and where in the buffer it lies.
    Layout getTileLayout();
  }];
}

def TileGPU_CopyGatheredOp : TileGPU_Op<"copy_gathered", [
    HasParent<"PushOp">, AttrSizedOperandSegments, MemoryEffects<[MemWrite]>]> {
  let summary = "Elements of an array at given indices, on their way to shared memory";
  let description = [{
    Element p of the buffer becomes `array[index0[p], index1[p], …]`, as of `tile.gather`;
    where an index is outside or the mask is false it is zero. The layout of the index
    tiles says who copies what: a thread starts asynchronous copies of the runs that it has
    the indices of. `in_bounds` and `run` are as of `tile.gather`. In a ring of copy "tma"
    all threads of the access part copy; one of them tells the copy engine of the group's
    other tiles.

    - copy_gathered-C1: there is one index per array dim.
    - copy_gathered-C2: indices and mask are tiles of the buffer's shape, in one layout.
    - copy_gathered-C3: `in_bounds` has one flag per array dim; `run` names a dim of the
      buffer and a length of 16 bytes or more.
  }];
  let arguments = (ins
    Arg<Tile_Array, "", [MemRead]>:$array, Variadic<AnyRankedTensor>:$index,
    Optional<AnyRankedTensor>:$mask, I64Attr:$slot,
    OptionalAttr<DenseBoolArrayAttr>:$in_bounds, DenseI64ArrayAttr:$run);
  let assemblyFormat = [{
    $array `[` $index `]` (`mask` `(` $mask^ `:` type($mask) `)`)?
    (`in_bounds` $in_bounds^)? `run` $run `to` $slot attr-dict
    `:` custom<ArrayType>(type($array)) `,` `[` type($index) `]`
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    BufferType getBuffer();
    bool isInBounds(unsigned dim) {
      return getInBounds() && (*getInBounds())[dim];
    }
    unsigned getRunDim() { return getRun()[0]; }
    int64_t getRunLength() { return getRun()[1]; }
  }];
}

def TileGPU_PopOp : TileGPU_Op<"pop"> {
  let summary = "The next group, once it is there";
  let description = [{
    - pop-C1: the results are the buffers of a place, slot by slot.
  }];
  let arguments = (ins TileGPU_RingOperand:$ring);
  let results = (outs Variadic<TileGPU_BufferType>:$buffers);
  let assemblyFormat = "$ring attr-dict `:` qualified(type($ring)) `->` qualified(type($buffers))";
  let hasVerifier = 1;
}

def TileGPU_ReleaseOp : TileGPU_Op<"release"> {
  let summary = "The oldest group that was popped is no longer needed";
  let description = [{
    What read its buffers must have completed: products that complete later have been
    waited for.
  }];
  let arguments = (ins TileGPU_RingOperand:$ring);
  let assemblyFormat = "$ring attr-dict `:` qualified(type($ring))";
}

def TileGPU_MmaWaitOp : TileGPU_Op<"mma_wait"> {
  let summary = "Results of products that complete later, now complete";
  let description = [{
    Waits until no more than `pending` of the products issued by this thread are in
    flight; they complete in the order of issue. The results are the inputs, which may
    now be read. Effects on memory as a whole, so that nothing moves across. Where
    products add to accumulators in tensor memory it is a barrier, too.

    - mma_wait-C1: results have the types of the inputs.
  }];
  let arguments = (ins Variadic<AnyRankedTensor>:$inputs, I64Attr:$pending);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let builders = [OpBuilder<(ins "::mlir::ValueRange":$inputs, "int64_t":$pending), [{
    build($_builder, $_state, inputs.getTypes(), inputs, pending);
  }]>];
  let assemblyFormat = [{
    $inputs `pending` $pending attr-dict `:` functional-type($inputs, $results)
  }];
  let hasVerifier = 1;
}

def TileGPU_TakeTurnOp : TileGPU_Op<"take_turn"> {
  let summary = "This warp group issues products next";
  let description = [{
    The warp groups of an execute part take turns in the order of their numbers; group 0
    has the first. Waits until the group before has passed its turn. While one group
    issues products, the other then computes, instead of both doing the same at once.
    All groups must take equally many turns, and pass each.
  }];
  let extraClassDeclaration = [{
    /// Each group's turn is a barrier of the block, and others need some, too.
    static constexpr int64_t mostGroups = 6;
  }];
  let assemblyFormat = "attr-dict";
}

def TileGPU_PassTurnOp : TileGPU_Op<"pass_turn"> {
  let summary = "The next warp group may issue its products";
  let description = [{
    Ends what `tgpu.take_turn` began, and does not wait.
  }];
  let assemblyFormat = "attr-dict";
}

def TileGPU_FenceAsyncOp : TileGPU_Op<"fence_async"> {
  let summary = "Own writes to shared memory become visible to copies and products";
  let description = [{
    Copy engine and asynchronous products look at shared memory by another way than
    loads and stores. A thread's own stores are visible to it after this operation; a
    barrier must follow before another thread starts the copy or product.
  }];
  let assemblyFormat = "attr-dict";
}

def TileGPU_CopyOutOp : TileGPU_Op<"copy_out"> {
  let summary = "A tile of shared memory on its way to an array";
  let description = [{
    Meets all threads that execute it (stores to the buffer before are seen), then one
    of them starts the copy. Elements outside the array are not written. The buffer
    may be written again after `tgpu.copy_out_wait`. Position and `shape` are as in
    `tgpu.copy`.
    `reduce`, when given: each element is combined with the array's, as by a relaxed
    `tile.atomic` of that kind and of the scope of the GPU.

    `groups`, when given: each warp group copies what it stored to the buffer itself,
    and only its threads meet. There is one number for each bit of a group's number: the
    first element, in row-major order, of the part of the group that has only that bit.

    - copy_out-C1: `order` names, without repeating, one array dim for each of the
      buffer, or of `shape`, and there is one index per array dim.
    - copy_out-C2: `groups` are powers of two, all different, and elements of the buffer.
    - copy_out-C3: `reduce` is add, max, min, and, or, xor.
    - copy_out-C4: `shape` has as many elements as the buffer, powers of two along each dim.
  }];
  let arguments = (ins
    Arg<TileGPU_BufferType, "", [MemRead]>:$buffer, Arg<Tile_Array, "", [MemWrite]>:$array,
    Variadic<Index>:$index, DenseI64ArrayAttr:$order,
    OptionalAttr<DenseI64ArrayAttr>:$shape, UnitAttr:$elements,
    OptionalAttr<DenseI64ArrayAttr>:$groups, OptionalAttr<Tile_AtomicKind>:$reduce);
  let assemblyFormat = [{
    $buffer `,` $array `[` $index `]` (`elements` $elements^)? `order` $order (`shape` $shape^)?
    (`groups` $groups^)? (`reduce` `(` $reduce^ `)`)? attr-dict `:` qualified(type($buffer)) `,` custom<ArrayType>(type($array))
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    Layout getTileLayout();
  }];
}

def TileGPU_CopyOutWaitOp : TileGPU_Op<"copy_out_wait"> {
  let summary = "Buffers of earlier copies out may be written again";
  let description = [{
    Meets all threads that execute it, or all of each warp group where copies go out
    `by_group`, when no more than `pending` copies out have not been read yet; they are
    read in the order of issue. `complete`: have not been written, either.
  }];
  let arguments = (ins DefaultValuedAttr<I64Attr, "0">:$pending, UnitAttr:$by_group,
    UnitAttr:$complete);
  let assemblyFormat =
      "(`pending` $pending^)? (`by_group` $by_group^)? (`complete` $complete^)? attr-dict";
}

def TileGPU_SpecializeOp : TileGPU_Op<"specialize", [
    NoTerminator, NoRegionArguments, RecursiveMemoryEffects]> {
  let summary = "Some warps copy, the others compute";
  let description = [{
    One thread of extra warps behind the kernel's own runs `access`, or all of them where
    it gathers; the kernel's warps
    run `execute`; both go on together after it. Rings are all that connects them.
    Barriers in `execute` are of its warps alone. `registers`, when given, are those
    per thread of the two parts.

    - specialize-C1: it stands in the kernel's outermost block.
    - specialize-C2: `registers` are two multiples of 8 in 24…256.
  }];
  let arguments = (ins OptionalAttr<DenseI64ArrayAttr>:$registers);
  let regions = (region SizedRegion<1>:$access, SizedRegion<1>:$execute);
  let assemblyFormat = [{
    (`registers` $registers^)? `access` $access `execute` $execute attr-dict
  }];
  let hasVerifier = 1;
}

def TileGPU_AwaitGridsOp : TileGPU_Op<"await_grids"> {
  let summary = "The grids launched before are complete";
  let description = [{
    Before it a kernel accesses no array, behind it it sees all that those grids wrote. A
    kernel that has it may start while they still run.
  }];
  let assemblyFormat = "attr-dict";
}

def TileGPU_LaunchDependentsOp : TileGPU_Op<"launch_dependents"> {
  let summary = "The next grid may start";
  let description = [{
    Once all blocks have come here, or have ended. It waits by itself until this grid is
    complete (`tgpu.await_grids`).
  }];
  let assemblyFormat = "attr-dict";
}

def TileGPU_ResidentBlockOp : TileGPU_Op<"resident_block", [Pure]> {
  let summary = "The number of this block among those launched";
  let description = [{ A cluster counts as one. See `tile.persistent` in KernelInfo. }];
  let results = (outs Index:$result);
  let assemblyFormat = "attr-dict";
}

def TileGPU_NumResidentBlocksOp : TileGPU_Op<"num_resident_blocks", [Pure]> {
  let summary = "How many blocks were launched";
  let description = [{ A cluster counts as one. }];
  let results = (outs Index:$result);
  let assemblyFormat = "attr-dict";
}

def TileGPU_ClusterRankOp : TileGPU_Op<"cluster_rank", [Pure]> {
  let summary = "The number of this block in its cluster";
  let results = (outs Index:$result);
  let assemblyFormat = "attr-dict";
}

def TileGPU_ClusterSizeOp : TileGPU_Op<"cluster_size", [Pure]> {
  let summary = "How many blocks the cluster has";
  let results = (outs Index:$result);
  let assemblyFormat = "attr-dict";
}

def TileGPU_ClusterSumOp : TileGPU_Op<"cluster_sum", [
    AttrSizedOperandSegments, AllTypesMatch<["tile", "result"]>]> {
  let summary = "The sum of a tile over the blocks of the cluster";
  let description = [{
    Every block brings a part, in one layout. The result is, in the first block, the sum in
    the order of blocks; in the others it is their own part. Every thread of every block of
    the cluster that runs the kernel's execute part comes here.

    Each thread has a place in `scratch` for its registers, which the same thread of other
    blocks reads and writes; `meeting` is a barrier that they wait at. StageOperands gives both.

    - cluster_sum-C1: elements are f32, f64 or i32.
    - cluster_sum-C2: `scratch` has the tile's element type.

    ```mlir
    %s = tgpu.cluster_sum %part through %scratch meeting %m : tensor<64x64xf32, #acc>, …
    ```
  }];
  let arguments = (ins
    AnyRankedTensor:$tile,
    Arg<Optional<TileGPU_BufferType>, "", [MemRead, MemWrite]>:$scratch,
    Arg<Optional<TileGPU_BufferType>, "", [MemRead, MemWrite]>:$meeting);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $tile (`through` $scratch^ `meeting` $meeting)? attr-dict `:` type($tile)
    (`,` qualified(type($scratch))^ `,` qualified(type($meeting)))?
  }];
  let hasVerifier = 1;
}

def TileGPU_PartOp : TileGPU_Op<"part", [Pure]> {
  let summary = "Which part of the loop over K this block takes";
  let description = [{ Of the blocks that share a position of the grid and add up in memory. }];
  let results = (outs Index:$result);
  let assemblyFormat = "attr-dict";
}

def TileGPU_NumPartsOp : TileGPU_Op<"num_parts", [Pure]> {
  let summary = "How many blocks share a position of the grid";
  let results = (outs Index:$result);
  let assemblyFormat = "attr-dict";
}

def TileGPU_MemorySumOp : TileGPU_Op<"memory_sum", [
    MemoryEffects<[MemRead, MemWrite]>, DeclareOpInterfaceMethods<InferTypeOpInterface>]> {
  let summary = "The sums of tiles over the blocks that share a position of the grid";
  let description = [{
    Every block brings a part of each tile. The block that comes here last has the results, sums
    in the order of parts; the others end here. None waits for another. Parts meet in a workspace
    that the launch brings (BuildInfo::sumBytes), where each thread has a place for its
    registers, which the same thread of the last block reads.

    - memory_sum-C1: elements are f32, f64 or i32.
    - memory_sum-C2: it stands in the outermost block of a kernel, and is the only one there.

    ```mlir
    %s:2 = tgpu.memory_sum %p, %q : tensor<64x64xf32, #acc>, tensor<64x64xf32, #acc>
    ```
  }];
  let arguments = (ins Variadic<AnyRankedTensor>:$tiles);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let assemblyFormat = "$tiles attr-dict `:` type($tiles)";
  let hasVerifier = 1;
}
