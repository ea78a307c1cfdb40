//===- RewriteForHost.cpp - from a module for a GPU to one for this machine -*- C++ -*-===//
// Part of tilec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===--------------------------------------------------------------------------===//
//
// See RewriteForHost.h for what goes in and out. The steps, in order:
//
//   expandAtomics   helpers of atomic instructions become llvm's own
//   keepOnly        the kernel and what it calls; the rest of the module goes
//   layOutShared    addresses of shared-memory globals
//   retarget        triple, data layout, attributes of the GPU
//   addContexts     every function gets the thread's context as first argument
//   rewriteBody     per function: registers, intrinsics, operations, checks, loops
//   exposeGlobals   globals of the module become addressable ranges
//
//===--------------------------------------------------------------------------===//
#include "RewriteForHost.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Analysis/TargetTransformInfo.h"
#include "llvm/IR/DebugInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/PassInstrumentation.h"
#include "llvm/IR/ReplaceConstant.h"
#include "llvm/Transforms/Scalar/ScalarizeMaskedMemIntrin.h"

using namespace llvm;
using namespace tilec;
using namespace tilec::emulator;

namespace {

class HostRewriter {
public:
  HostRewriter(Module &module, bool checks)
      : module(module), context(module.getContext()), checks(checks),
        sites(kernel.sites), pointer(PointerType::get(context, 0)),
        int8(Type::getInt8Ty(context)), int32(Type::getInt32Ty(context)) {}

  Expected<HostKernel> run(StringRef name, const Triple &triple,
                           const DataLayout &layout);

private:
  Error keepOnly(StringRef name);
  Error layOutShared();
  void retarget(const Triple &triple, const DataLayout &layout);
  Error addContexts();
  Function *addContext(Function &function);
  void loadParameters(Function &host, Function &device);
  Error rewriteBody(Function &function);
  Error rewriteCall(CallInst *call);
  Error rewriteIntrinsic(CallInst *call);
  Value *specialRegister(StringRef name, IRBuilder<> &b, Value *thread);
  Value *laneMask(StringRef which, IRBuilder<> &b, Value *lane);
  bool addressQuery(CallInst *call, StringRef name);
  Error callOperation(CallInst *call, const OperationEntry &entry);
  void callRuntime(Instruction *before, const char *symbol);
  void scalarizeMasked();
  void privateMemory(Function &function);
  void numberSharedAddresses(Function &function);
  void guardDivisions(Function &function);
  void relaxAlignments(Function &function);
  void replaceShared();
  void exposeGlobals();

  Value *field(IRBuilder<> &b, Value *thread, unsigned at, Type *type);
  Error unsupported(const Instruction &instruction, const Twine &what);

  Module &module;
  LLVMContext &context;
  bool checks;
  HostKernel kernel;
  SiteTable sites;
  PointerType *pointer;
  IntegerType *int8, *int32;
  Function *kernelFunction = nullptr;
  SmallVector<Function *> functions;
  SmallVector<std::pair<GlobalVariable *, uint32_t>> sharedOffsets;
  SmallVector<Value *> privatePointers;
};

Error HostRewriter::unsupported(const Instruction &instruction, const Twine &what) {
  std::string place;
  if (const DILocation *location = instruction.getDebugLoc())
    place = (Twine(location->getFilename()) + ":" + Twine(location->getLine()) + ": ")
                .str();
  return createStringError(Twine(place) + "the emulator does not support " + what);
}

//===--- whole-module steps -------------------------------------------------------===//

/// Adds to \p out the globals that \p value mentions, in code or initializer.
void collectGlobals(GlobalValue &value, SetVector<GlobalValue *> &out) {
  SmallVector<User *> work = {&value};
  SmallPtrSet<User *, 16> seen;
  if (auto *function = dyn_cast<Function>(&value))
    for (Instruction &instruction : instructions(*function))
      work.push_back(&instruction);
  while (!work.empty())
    for (Use &operand : work.pop_back_val()->operands()) {
      if (auto *global = dyn_cast<GlobalValue>(operand.get()))
        out.insert(global);
      else if (auto *constant = dyn_cast<Constant>(operand.get()))
        if (seen.insert(constant).second)
          work.push_back(constant);
    }
}

Error HostRewriter::keepOnly(StringRef name) {
  kernelFunction = module.getFunction(name);
  if (!kernelFunction || kernelFunction->isDeclaration() ||
      kernelFunction->getCallingConv() != CallingConv::PTX_Kernel)
    return createStringError("the module has no kernel '" + name + "'");
  for (StringRef list : {"llvm.used", "llvm.compiler.used"})
    if (GlobalVariable *used = module.getNamedGlobal(list))
      used->eraseFromParent();
  if (NamedMDNode *annotations = module.getNamedMetadata("nvvm.annotations"))
    annotations->eraseFromParent();
  SetVector<GlobalValue *> reached;
  reached.insert(kernelFunction);
  for (unsigned i = 0; i < reached.size(); ++i)
    collectGlobals(*reached[i], reached);
  for (GlobalValue &value : module.global_values()) {
    if (reached.contains(&value))
      continue;
    if (auto *function = dyn_cast<Function>(&value))
      function->deleteBody();
    else if (auto *global = dyn_cast<GlobalVariable>(&value))
      global->setInitializer(nullptr);
  }
  SmallVector<GlobalValue *> dead;
  for (GlobalValue &value : module.global_values())
    if (!reached.contains(&value))
      dead.push_back(&value);
  for (GlobalValue *value : dead) {
    value->replaceAllUsesWith(PoisonValue::get(value->getType()));
    value->eraseFromParent();
  }
  for (GlobalValue *value : reached) {
    if (auto *object = dyn_cast<GlobalObject>(value))
      object->setComdat(nullptr);
    if (!value->isDeclaration() && value != kernelFunction)
      value->setLinkage(GlobalValue::InternalLinkage);
    if (auto *function = dyn_cast<Function>(value))
      if (!function->isDeclaration())
        functions.push_back(function);
  }
  return Error::success();
}

Error HostRewriter::layOutShared() {
  const DataLayout &layout = module.getDataLayout();
  SmallVector<Constant *> constants;
  SmallVector<GlobalVariable *> dynamic;
  uint64_t at = 0;
  for (GlobalVariable &global : module.globals()) {
    if (global.getAddressSpace() != 3)
      continue;
    constants.push_back(&global);
    uint64_t size = layout.getTypeAllocSize(global.getValueType());
    if (global.isDeclaration() || size == 0) {
      dynamic.push_back(&global);
      continue;
    }
    at = alignTo(at, global.getAlign().value_or(
                         layout.getABITypeAlign(global.getValueType())));
    sharedOffsets.push_back({&global, uint32_t(at)});
    at += size;
    if (at > sharedCapacity)
      return createStringError("the kernel's static shared memory is larger than " +
                               Twine(sharedCapacity) + " bytes");
  }
  // All dynamic arrays begin at the same address.
  for (GlobalVariable *global : dynamic)
    at = alignTo(at, std::max(Align(16), global->getAlign().value_or(Align(16))));
  for (GlobalVariable *global : dynamic)
    sharedOffsets.push_back({global, uint32_t(at)});
  kernel.staticSharedBytes = uint32_t(at);
  convertUsersOfConstantsToInstructions(constants);
  return Error::success();
}

void HostRewriter::retarget(const Triple &triple, const DataLayout &layout) {
  module.setTargetTriple(triple);
  module.setDataLayout(layout);
  if (NamedMDNode *flags = module.getModuleFlagsMetadata()) {
    SmallVector<MDNode *> kept;
    for (MDNode *flag : flags->operands())
      if (auto *key = dyn_cast<MDString>(flag->getOperand(1)))
        if (key->getString() == "Debug Info Version")
          kept.push_back(flag);
    flags->clearOperands();
    for (MDNode *flag : kept)
      flags->addOperand(flag);
  }
  for (Function &function : module) {
    if (function.isIntrinsic())
      continue;
    // What the GPU's compiler knew of a function no longer holds once it calls checks
    // and the scheduler: it touches memory, synchronises, and need not return.
    function.setAttributes(AttributeList());
    function.setCallingConv(CallingConv::C);
    if (!function.isDeclaration())
      function.addFnAttr(Attribute::NoUnwind);
  }
}

Function *HostRewriter::addContext(Function &device) {
  bool isKernel = &device == kernelFunction;
  SmallVector<Type *> types = {pointer};
  if (isKernel)
    types.push_back(pointer);
  else
    append_range(types, device.getFunctionType()->params());
  Type *result = isKernel ? Type::getVoidTy(context) : device.getReturnType();
  auto *host = Function::Create(FunctionType::get(result, types, false),
                                isKernel ? GlobalValue::ExternalLinkage
                                         : GlobalValue::InternalLinkage,
                                "", &module);
  host->addFnAttr(Attribute::NoUnwind);
  host->splice(host->begin(), &device);
  host->setSubprogram(device.getSubprogram());
  device.setSubprogram(nullptr);
  host->getArg(0)->setName("thread");
  host->takeName(&device);
  if (isKernel) {
    loadParameters(*host, device);
  } else {
    for (Argument &argument : device.args()) {
      Argument *replacement = host->getArg(argument.getArgNo() + 1);
      replacement->takeName(&argument);
      argument.replaceAllUsesWith(replacement);
    }
  }
  return host;
}

void HostRewriter::loadParameters(Function &host, Function &device) {
  const DataLayout &layout = module.getDataLayout();
  IRBuilder<> b(&*host.getEntryBlock().getFirstInsertionPt());
  b.SetCurrentDebugLocation(DebugLoc());
  host.getArg(1)->setName("parameters");
  for (Argument &argument : device.args()) {
    Value *slot = b.CreateConstGEP1_64(pointer, host.getArg(1), argument.getArgNo());
    Value *address = b.CreateLoad(pointer, slot);
    privatePointers.push_back(address);
    if (argument.hasByValAttr()) {
      // The parameter is the bytes themselves, and the kernel sees their address.
      kernel.parameters.push_back(
          {layout.getTypeAllocSize(argument.getParamByValType())});
      if (argument.getType() != pointer)
        address = b.CreateAddrSpaceCast(address, argument.getType());
      argument.replaceAllUsesWith(address);
      continue;
    }
    kernel.parameters.push_back({layout.getTypeStoreSize(argument.getType())});
    argument.replaceAllUsesWith(
        b.CreateAlignedLoad(argument.getType(), address, Align(1)));
  }
  privatePointers.push_back(host.getArg(1));
}

Error HostRewriter::addContexts() {
  DenseMap<Function *, Function *> hosts;
  for (Function *device : functions) {
    if (device->isVarArg())
      return createStringError(
          "the emulator does not support functions with variable arguments ('" +
          device->getName() + "')");
  }
  // byval is read from the attributes, which retarget() drops, hence the order.
  SmallVector<Function *> rewritten;
  for (Function *device : functions) {
    Function *host = addContext(*device);
    hosts[device] = host;
    rewritten.push_back(host);
  }
  for (auto [device, host] : hosts) {
    for (User *user : make_early_inc_range(device->users())) {
      auto *call = dyn_cast<CallInst>(user);
      if (!call || call->getCalledOperand() != device || device == kernelFunction)
        return createStringError("the emulator does not support pointers to functions "
                                 "('" + host->getName() + "')");
      SmallVector<Value *> arguments = {call->getFunction()->getArg(0)};
      append_range(arguments, call->args());
      auto *replacement = CallInst::Create(host, arguments, "", call->getIterator());
      replacement->setDebugLoc(call->getDebugLoc());
      call->replaceAllUsesWith(replacement);
      call->eraseFromParent();
    }
    device->eraseFromParent();
  }
  kernelFunction = hosts[kernelFunction];
  functions = std::move(rewritten);
  return Error::success();
}

void HostRewriter::replaceShared() {
  // One address computation per function and global, at the entry.
  for (auto [global, at] : sharedOffsets) {
    DenseMap<Function *, Value *> addresses;
    for (Use &use : make_early_inc_range(global->uses())) {
      auto *user = dyn_cast<Instruction>(use.getUser());
      if (!user)
        continue;
      Value *&address = addresses[user->getFunction()];
      if (!address) {
        IRBuilder<> b(&*user->getFunction()->getEntryBlock().getFirstInsertionPt());
        b.SetCurrentDebugLocation(DebugLoc());
        Value *base = field(b, user->getFunction()->getArg(0), offset::shared, pointer);
        address = b.CreateAddrSpaceCast(b.CreateConstGEP1_64(int8, base, at),
                                        global->getType());
      }
      use.set(address);
    }
    global->replaceAllUsesWith(PoisonValue::get(global->getType()));
    global->eraseFromParent();
  }
}

void HostRewriter::exposeGlobals() {
  unsigned counter = 0;
  const DataLayout &layout = module.getDataLayout();
  for (GlobalVariable &global : module.globals()) {
    if (global.getName().starts_with("llvm."))
      continue;
    std::string name = global.getName().str();
    if (global.isDeclaration())
      global.setInitializer(Constant::getNullValue(global.getValueType()));
    if (isa<UndefValue>(global.getInitializer()))
      global.setInitializer(Constant::getNullValue(global.getValueType()));
    global.setLinkage(GlobalValue::ExternalLinkage);
    global.setVisibility(GlobalValue::DefaultVisibility);
    global.setName("tilec.emulator.global." + Twine(counter++));
    kernel.globals.push_back({global.getName().str(), name,
                              layout.getTypeAllocSize(global.getValueType()),
                              !global.isConstant()});
  }
}

//===--- inside of a function -------------------------------------------------------===//

Value *HostRewriter::field(IRBuilder<> &b, Value *thread, unsigned at, Type *type) {
  LoadInst *load = b.CreateLoad(type, b.CreateConstGEP1_64(int8, thread, at));
  load->setMetadata(LLVMContext::MD_invariant_load, MDNode::get(context, {}));
  return load;
}

Value *HostRewriter::laneMask(StringRef which, IRBuilder<> &b, Value *lane) {
  Value *bit = b.CreateShl(b.getInt32(1), lane);
  Value *below = b.CreateSub(bit, b.getInt32(1));
  return StringSwitch<Value *>(which)
      .Case("eq", bit)
      .Case("lt", below)
      .Case("le", b.CreateOr(below, bit))
      .Case("ge", b.CreateNot(below))
      .Case("gt", b.CreateNot(b.CreateOr(below, bit)))
      .Default(nullptr);
}

Value *HostRewriter::specialRegister(StringRef name, IRBuilder<> &b, Value *thread) {
  auto [group, rest] = name.split('.');
  int vector = StringSwitch<int>(group)
                   .Case("tid", offset::threadIndex)
                   .Case("ntid", offset::blockSize)
                   .Case("ctaid", offset::blockIndex)
                   .Case("nctaid", offset::gridSize)
                   .Case("clusterid", offset::blockIndex)
                   .Case("nclusterid", offset::gridSize)
                   .Default(-1);
  // Clusters lie along x.
  if (name == "clusterid.x")
    return field(b, thread, offset::clusterIndex, int32);
  if (name == "nclusterid.x")
    return field(b, thread, offset::numClusters, int32);
  if (vector >= 0 && rest.size() == 1 && rest[0] >= 'x' && rest[0] <= 'z')
    return field(b, thread, vector + 4 * (rest[0] - 'x'), int32);
  if (name == "laneid")
    return field(b, thread, offset::lane, int32);
  if (name == "warpid")
    return field(b, thread, offset::warp, int32);
  if (group == "lanemask")
    return laneMask(rest, b, field(b, thread, offset::lane, int32));
  if (name == "warpsize")
    return b.getInt32(32);
  if (name == "total.smem.size" || name == "total_smem_size")
    return field(b, thread, offset::sharedBytes, int32);
  if (name == "dynamic_smem_size")
    return b.CreateSub(field(b, thread, offset::sharedBytes, int32),
                       b.getInt32(kernel.staticSharedBytes));
  if (group == "cluster") {
    auto [what, dimension] = rest.split('.');
    if (what == "ctaid" || what == "ctarank")
      return dimension == "y" || dimension == "z" ? b.getInt32(0)
                                                  : field(b, thread, offset::clusterRank, int32);
    if (what == "nctaid" || what == "nctarank")
      return dimension == "y" || dimension == "z" ? b.getInt32(1)
                                                  : field(b, thread, offset::clusterSize, int32);
  }
  if (name == "smid" || name == "gridid" || group == "envreg0")
    return b.getInt32(0);
  return nullptr;
}

bool HostRewriter::addressQuery(CallInst *call, StringRef name) {
  IRBuilder<> b(call);
  Value *thread = call->getFunction()->getArg(0);
  Value *result = nullptr;
  if (name.consume_front("isspacep.")) {
    Value *base = field(b, thread, offset::shared, pointer);
    Value *at = b.CreateSub(b.CreatePtrToInt(call->getArgOperand(0), b.getInt64Ty()),
                            b.CreatePtrToInt(base, b.getInt64Ty()));
    Value *inShared = b.CreateICmpULT(at, b.getInt64(sharedCapacity));
    if (name.starts_with("shared"))
      result = inShared;
    else if (name == "global")
      result = b.CreateNot(inShared);
    else
      result = b.getFalse();
  }
  if (!result)
    return false;
  call->replaceAllUsesWith(result);
  call->eraseFromParent();
  return true;
}

Error HostRewriter::callOperation(CallInst *call, const OperationEntry &entry) {
  std::optional<uint32_t> variant = entry.variant;
  if (entry.parse)
    variant = entry.parse(call->getCalledFunction()->getName());
  if (!variant)
    return unsupported(*call, "'" + call->getCalledFunction()->getName() + "'");
  Function &function = *call->getFunction();
  IRBuilder<> b(call);
  b.SetCurrentDebugLocation(DebugLoc());
  IRBuilder<> entryBuilder(&*function.getEntryBlock().getFirstInsertionPt());
  entryBuilder.SetCurrentDebugLocation(DebugLoc());
  Value *thread = function.getArg(0);

  uint32_t site = sites.add(*call);
  b.CreateStore(b.getInt32(site), b.CreateConstGEP1_64(int8, thread, offset::site));

  SmallVector<Type *> types;
  for (Value *argument : call->args())
    if (!argument->getType()->isMetadataTy())
      types.push_back(argument->getType());
  Value *arguments = ConstantPointerNull::get(pointer);
  if (!types.empty()) {
    StructType *type = StructType::get(context, types);
    arguments = entryBuilder.CreateAlloca(type);
    unsigned index = 0;
    for (Value *argument : call->args())
      if (!argument->getType()->isMetadataTy())
        b.CreateStore(argument, b.CreateStructGEP(type, arguments, index++));
  }
  Value *result = ConstantPointerNull::get(pointer);
  if (!call->getType()->isVoidTy())
    result = entryBuilder.CreateAlloca(call->getType());
  std::string symbol = ("tilec.operation." + entry.name).str();
  std::replace(symbol.begin(), symbol.end(), '*', '_');
  kernel.operations[symbol] = entry.function;
  // Operations that touch fewer than 16 bytes need as small a granule.
  if (entry.name.contains("mbarrier") || entry.name.contains("tcgen05.commit") ||
      entry.name.contains("shared.global.8"))
    kernel.sharedGranuleLog2 = std::min(kernel.sharedGranuleLog2, 3u);
  if (entry.name.contains("shared.global.4") || entry.name.contains("tcgen05.alloc"))
    kernel.sharedGranuleLog2 = std::min(kernel.sharedGranuleLog2, 2u);
  if (entry.name.contains("cp.async.bulk.tensor"))
    kernel.globalGranuleLog2 = std::min(kernel.globalGranuleLog2, 2u);
  FunctionCallee callee = module.getOrInsertFunction(
      symbol, FunctionType::get(Type::getVoidTy(context),
                                {pointer, pointer, pointer, int32}, false));
  b.CreateCall(callee, {thread, arguments, result, b.getInt32(*variant)});
  if (!call->getType()->isVoidTy())
    call->replaceAllUsesWith(b.CreateLoad(call->getType(), result));
  call->eraseFromParent();
  return Error::success();
}

void HostRewriter::callRuntime(Instruction *before, const char *symbol) {
  IRBuilder<> b(before);
  b.SetCurrentDebugLocation(DebugLoc());
  FunctionCallee callee = module.getOrInsertFunction(
      symbol, FunctionType::get(Type::getVoidTy(context), {pointer, int32}, false));
  b.CreateCall(callee, {before->getFunction()->getArg(0), b.getInt32(sites.add(*before))});
}

Error HostRewriter::rewriteIntrinsic(CallInst *call) {
  StringRef name = call->getCalledFunction()->getName();
  StringRef rest = name;
  if (!rest.consume_front("llvm.nvvm.")) {
    if (name == "llvm.trap" || name == "llvm.debugtrap" || name == "llvm.ubsantrap") {
      callRuntime(call, symbol::trap);
      call->eraseFromParent();
    }
    return Error::success();
  }
  if (const OperationEntry *entry = findOperation(name))
    return callOperation(call, *entry);
  StringRef registerName = rest;
  if (registerName.consume_front("read.ptx.sreg.")) {
    IRBuilder<> b(call);
    Value *value = specialRegister(registerName, b, call->getFunction()->getArg(0));
    if (!value)
      return unsupported(*call, "the special register '" + registerName + "'");
    call->replaceAllUsesWith(value);
    call->eraseFromParent();
    return Error::success();
  }
  if (rest == "exit") {
    callRuntime(call, symbol::exit);
    call->eraseFromParent();
    return Error::success();
  }
  if (addressQuery(call, rest) || expandArithmetic(call))
    return Error::success();
  return unsupported(*call, "the intrinsic '" + name + "'");
}

Error HostRewriter::rewriteCall(CallInst *call) {
  if (call->isInlineAsm())
    return unsupported(*call, "inline PTX ('" +
                                  cast<InlineAsm>(call->getCalledOperand())->getAsmString() +
                                  "')");
  Function *callee = call->getCalledFunction();
  if (!callee)
    return unsupported(*call, "calls through pointers");
  if (callee->isIntrinsic())
    return rewriteIntrinsic(call);
  if (!callee->isDeclaration())
    return Error::success();
  if (const OperationEntry *entry = findOperation(callee->getName()))
    return callOperation(call, *entry);
  if (callee->getName().starts_with("tilec.") && expandArithmetic(call))
    return Error::success();
  return unsupported(*call, "the function '" + callee->getName() + "'");
}

/// Masked loads and stores become branches around plain ones, which are checked.
void HostRewriter::scalarizeMasked() {
  auto isMasked = [](const Function &function) {
    return function.getName().starts_with("llvm.masked.");
  };
  if (none_of(module, isMasked))
    return;
  FunctionAnalysisManager analyses;
  analyses.registerPass([] { return PassInstrumentationAnalysis(); });
  analyses.registerPass([] { return TargetIRAnalysis(); });
  analyses.registerPass([] { return DominatorTreeAnalysis(); });
  for (Function *function : functions)
    ScalarizeMaskedMemIntrinPass().run(*function, analyses);
}

/// Variables in the GPU's private address space become plain stack variables.
void HostRewriter::privateMemory(Function &function) {
  const DataLayout &layout = module.getDataLayout();
  SmallVector<AllocaInst *> variables;
  for (Instruction &instruction : instructions(function))
    if (auto *variable = dyn_cast<AllocaInst>(&instruction))
      variables.push_back(variable);
  for (AllocaInst *variable : variables) {
    if (std::optional<TypeSize> size = variable->getAllocationSize(layout))
      kernel.stackBytes += size->getFixedValue();
    if (variable->getAddressSpace() == 0)
      continue;
    IRBuilder<> b(variable);
    AllocaInst *host = b.CreateAlloca(variable->getAllocatedType(), 0,
                                      variable->getArraySize());
    host->setAlignment(variable->getAlign());
    for (User *user : make_early_inc_range(variable->users()))
      if (auto *marker = dyn_cast<IntrinsicInst>(user))
        if (marker->isLifetimeStartOrEnd())
          marker->eraseFromParent();
    variable->replaceAllUsesWith(b.CreateAddrSpaceCast(host, variable->getType()));
    variable->eraseFromParent();
  }
}

/// As a number, an address in shared memory counts from the start of the block's, and the
/// bits from `clusterWindowBits` on say which block of the cluster: code puts such numbers
/// into the fields of descriptors, where these bits must not get to.
void HostRewriter::numberSharedAddresses(Function &function) {
  SmallVector<CastInst *> casts;
  for (Instruction &instruction : instructions(function)) {
    auto *cast = dyn_cast<CastInst>(&instruction);
    if (!cast || (!isa<PtrToIntInst>(cast) && !isa<IntToPtrInst>(cast)))
      continue;
    Type *type = isa<PtrToIntInst>(cast) ? cast->getSrcTy() : cast->getDestTy();
    if (type->isPointerTy() && type->getPointerAddressSpace() == 3)
      casts.push_back(cast);
  }
  for (CastInst *cast : casts) {
    IRBuilder<> b(cast);
    Value *value = cast->getOperand(0), *thread = function.getArg(0), *result;
    Value *rank = b.CreateZExt(field(b, thread, offset::clusterRank, int32), b.getInt64Ty());
    Value *window = b.CreateShl(rank, clusterWindowBits);
    if (isa<PtrToIntInst>(cast)) {
      Value *address = b.CreatePtrToInt(value, b.getInt64Ty());
      Value *number = b.CreateOr(b.CreateAnd(address, sharedCapacity - 1), window);
      result = b.CreateZExtOrTrunc(number, cast->getType());
    } else {
      Value *base = field(b, thread, offset::shared, pointer);
      Value *number = b.CreateSub(b.CreateZExtOrTrunc(value, b.getInt64Ty()), window);
      result = b.CreateAddrSpaceCast(b.CreateGEP(int8, base, number), cast->getType());
    }
    cast->replaceAllUsesWith(result);
    cast->eraseFromParent();
  }
}

/// A division by zero is undefined in the module but faults on some hosts; here it
/// becomes a division by one.
void HostRewriter::guardDivisions(Function &function) {
  SmallVector<BinaryOperator *> divisions;
  for (Instruction &instruction : instructions(function))
    if (auto *op = dyn_cast<BinaryOperator>(&instruction))
      if (op->isIntDivRem() && !isa<Constant>(op->getOperand(1)))
        divisions.push_back(op);
  for (BinaryOperator *op : divisions) {
    IRBuilder<> b(op);
    Value *divisor = op->getOperand(1);
    Type *type = divisor->getType();
    Value *bad = b.CreateICmpEQ(divisor, Constant::getNullValue(type));
    bool isSigned = op->getOpcode() == Instruction::SDiv ||
                    op->getOpcode() == Instruction::SRem;
    if (isSigned) {
      unsigned width = type->getScalarSizeInBits();
      Value *isMinimum = b.CreateICmpEQ(
          op->getOperand(0), ConstantInt::get(type, APInt::getSignedMinValue(width)));
      Value *isMinusOne = b.CreateICmpEQ(divisor, Constant::getAllOnesValue(type));
      bad = b.CreateOr(bad, b.CreateAnd(isMinimum, isMinusOne));
    }
    op->setOperand(1, b.CreateSelect(bad, ConstantInt::get(type, 1), divisor));
  }
}

/// The host must not fault where the GPU would: alignments are checked by the
/// instrumentation, and the host is told nothing of them. Scopes of the GPU go.
void HostRewriter::relaxAlignments(Function &function) {
  for (Instruction &instruction : instructions(function)) {
    if (auto *load = dyn_cast<LoadInst>(&instruction)) {
      if (load->isAtomic())
        load->setSyncScopeID(SyncScope::System);
      else
        load->setAlignment(Align(1));
    } else if (auto *store = dyn_cast<StoreInst>(&instruction)) {
      if (store->isAtomic())
        store->setSyncScopeID(SyncScope::System);
      else
        store->setAlignment(Align(1));
    } else if (auto *rmw = dyn_cast<AtomicRMWInst>(&instruction)) {
      rmw->setSyncScopeID(SyncScope::System);
    } else if (auto *exchange = dyn_cast<AtomicCmpXchgInst>(&instruction)) {
      exchange->setSyncScopeID(SyncScope::System);
    } else if (auto *memory = dyn_cast<MemIntrinsic>(&instruction)) {
      memory->setDestAlignment(Align(1));
      if (auto *transfer = dyn_cast<MemTransferInst>(memory))
        transfer->setSourceAlignment(Align(1));
    }
  }
}

Error HostRewriter::rewriteBody(Function &function) {
  privateMemory(function);
  numberSharedAddresses(function);
  if (checks) {
    instrumentAccesses(function, sites, kernel, privatePointers);
    instrumentProducts(function, sites);
  }
  relaxAlignments(function);
  guardDivisions(function);
  SmallVector<CallInst *> calls;
  SmallVector<UnreachableInst *> unreachables;
  SmallVector<FenceInst *> fences;
  for (Instruction &instruction : instructions(function)) {
    if (auto *call = dyn_cast<CallInst>(&instruction))
      calls.push_back(call);
    else if (auto *unreachable = dyn_cast<UnreachableInst>(&instruction))
      unreachables.push_back(unreachable);
    else if (auto *fence = dyn_cast<FenceInst>(&instruction))
      fences.push_back(fence);
    else if (isa<InvokeInst, CallBrInst, IndirectBrInst>(instruction))
      return unsupported(instruction, "exceptions and indirect jumps");
  }
  for (CallInst *call : calls) {
    StringRef name = call->getCalledFunction() ? call->getCalledFunction()->getName() : "";
    if (name.starts_with("tilec.emulator."))
      continue;
    if (Error error = rewriteCall(call))
      return error;
  }
  for (FenceInst *fence : fences) {
    callRuntime(fence, symbol::fence);
    fence->eraseFromParent();
  }
  for (UnreachableInst *unreachable : unreachables)
    callRuntime(unreachable, symbol::trap);
  instrumentLoops(function, sites);
  return Error::success();
}

Expected<HostKernel> HostRewriter::run(StringRef name, const Triple &triple,
                                       const DataLayout &layout) {
  expandAtomics(module);
  if (Error error = keepOnly(name))
    return error;
  if (Error error = layOutShared())
    return error;
  if (Error error = addContexts())
    return error;
  retarget(triple, layout);
  replaceShared();
  scalarizeMasked();
  for (Function *function : functions)
    if (Error error = rewriteBody(*function))
      return error;
  exposeGlobals();
  for (Function &function : make_early_inc_range(module))
    if (function.isDeclaration() && function.use_empty())
      function.eraseFromParent();
  StripDebugInfo(module);
  kernel.symbol = kernelFunction->getName().str();
  return std::move(kernel);
}

} // namespace

Expected<HostKernel> tilec::emulator::rewriteForHost(Module &module, StringRef kernel,
                                                     const Triple &triple,
                                                     const DataLayout &layout,
                                                     bool checks) {
  return HostRewriter(module, checks).run(kernel, triple, layout);
}
