; ModuleID = 'block_kernels.cu'
source_filename = "block_kernels.cu"
target datalayout = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"

@_ZZ6reduceE1w = internal unnamed_addr addrspace(3) global [32 x float] undef, align 4
@_ZZ9transposeE4tile = internal unnamed_addr addrspace(3) global [32 x [33 x float]] undef, align 4

; Function Attrs: convergent mustprogress noinline norecurse nounwind
define dso_local ptx_kernel void @reduce(ptr noundef readonly captures(none) %0, ptr noundef writeonly captures(none) %1, i32 noundef %2) local_unnamed_addr #0 !dbg !12 {
  %4 = tail call noundef range(i32 0, 2147483647) i32 @llvm.nvvm.read.ptx.sreg.ctaid.x(), !dbg !15
  %5 = tail call noundef range(i32 1, 1025) i32 @llvm.nvvm.read.ptx.sreg.ntid.x(), !dbg !18
  %6 = mul i32 %4, %5, !dbg !21
  %7 = tail call noundef range(i32 0, 1024) i32 @llvm.nvvm.read.ptx.sreg.tid.x(), !dbg !22
  %8 = add i32 %6, %7, !dbg !25
  %9 = icmp ult i32 %8, %2, !dbg !26
  br i1 %9, label %12, label %10, !dbg !27

10:                                               ; preds = %15, %3
  %11 = phi float [ 0.000000e+00, %3 ], [ %21, %15 ]
  br label %27, !dbg !28

12:                                               ; preds = %3
  %13 = tail call i32 @llvm.nvvm.read.ptx.sreg.nctaid.x()
  %14 = mul i32 %5, %13
  br label %15, !dbg !27

15:                                               ; preds = %12, %15
  %16 = phi i32 [ %8, %12 ], [ %22, %15 ]
  %17 = phi float [ 0.000000e+00, %12 ], [ %21, %15 ]
  %18 = zext i32 %16 to i64, !dbg !29
  %19 = getelementptr inbounds nuw float, ptr %0, i64 %18, !dbg !29
  %20 = load float, ptr %19, align 4, !dbg !29, !tbaa !30
  %21 = fadd contract float %17, %20, !dbg !32
  %22 = add i32 %16, %14, !dbg !33
  %23 = icmp ult i32 %22, %2, !dbg !26
  br i1 %23, label %15, label %10, !dbg !27, !llvm.loop !34

24:                                               ; preds = %27
  %25 = and i32 %7, 31, !dbg !38
  %26 = icmp eq i32 %25, 0, !dbg !39
  br i1 %26, label %34, label %38, !dbg !39

27:                                               ; preds = %10, %27
  %28 = phi i32 [ %32, %27 ], [ 16, %10 ]
  %29 = phi float [ %31, %27 ], [ %11, %10 ]
  %30 = tail call contract noundef float @llvm.nvvm.shfl.sync.down.f32(i32 -1, float %29, i32 range(i32 1, 0) %28, i32 31), !dbg !40
  %31 = fadd contract float %29, %30, !dbg !43
  %32 = lshr i32 %28, 1, !dbg !44
  %33 = icmp eq i32 %32, 0, !dbg !45
  br i1 %33, label %24, label %27, !dbg !28, !llvm.loop !46

34:                                               ; preds = %24
  %35 = lshr exact i32 %7, 5
  %36 = zext nneg i32 %35 to i64
  %37 = getelementptr inbounds nuw float, ptr addrspacecast (ptr addrspace(3) @_ZZ6reduceE1w to ptr), i64 %36
  store float %31, ptr %37, align 4, !dbg !48, !tbaa !30
  br label %38, !dbg !49

38:                                               ; preds = %34, %24
  tail call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0), !dbg !50
  %39 = icmp samesign ult i32 %7, 32, !dbg !51
  br i1 %39, label %40, label %61, !dbg !51

40:                                               ; preds = %38
  %41 = lshr i32 %5, 5, !dbg !52
  %42 = icmp samesign ult i32 %7, %41, !dbg !53
  br i1 %42, label %43, label %47, !dbg !54

43:                                               ; preds = %40
  %44 = zext nneg i32 %7 to i64
  %45 = getelementptr inbounds nuw float, ptr addrspacecast (ptr addrspace(3) @_ZZ6reduceE1w to ptr), i64 %44
  %46 = load float, ptr %45, align 4, !dbg !55, !tbaa !30
  br label %47, !dbg !54

47:                                               ; preds = %40, %43
  %48 = phi float [ %46, %43 ], [ 0.000000e+00, %40 ]
  br label %51, !dbg !56

49:                                               ; preds = %51
  %50 = icmp eq i32 %7, 0, !dbg !57
  br i1 %50, label %58, label %61, !dbg !57

51:                                               ; preds = %47, %51
  %52 = phi i32 [ %56, %51 ], [ 16, %47 ]
  %53 = phi float [ %55, %51 ], [ %48, %47 ]
  %54 = tail call contract noundef float @llvm.nvvm.shfl.sync.down.f32(i32 -1, float %53, i32 range(i32 1, 0) %52, i32 31), !dbg !58
  %55 = fadd contract float %53, %54, !dbg !60
  %56 = lshr i32 %52, 1, !dbg !61
  %57 = icmp eq i32 %56, 0, !dbg !62
  br i1 %57, label %49, label %51, !dbg !56, !llvm.loop !63

58:                                               ; preds = %49
  %59 = zext nneg i32 %4 to i64
  %60 = getelementptr inbounds nuw float, ptr %1, i64 %59
  store float %55, ptr %60, align 4, !dbg !65, !tbaa !30
  br label %61, !dbg !66

61:                                               ; preds = %49, %58, %38
  ret void, !dbg !67
}

; Function Attrs: mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare noundef range(i32 1, -2147483648) i32 @llvm.nvvm.read.ptx.sreg.nctaid.x() #1

; Function Attrs: convergent nocallback nounwind
declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32) #2

; Function Attrs: convergent mustprogress noinline norecurse nounwind
define dso_local ptx_kernel void @transpose(ptr noundef readonly captures(none) %0, ptr noundef writeonly captures(none) %1, i32 noundef %2, i32 noundef %3) local_unnamed_addr #0 !dbg !68 {
  %5 = tail call noundef range(i32 0, 1024) i32 @llvm.nvvm.read.ptx.sreg.tid.x(), !dbg !69
  %6 = and i32 %5, 31, !dbg !71
  %7 = lshr i32 %5, 5, !dbg !72
  %8 = tail call noundef range(i32 0, 65535) i32 @llvm.nvvm.read.ptx.sreg.ctaid.y()
  %9 = shl nuw nsw i32 %8, 5
  %10 = or disjoint i32 %9, %7
  %11 = tail call noundef range(i32 0, 2147483647) i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %12 = shl i32 %11, 5
  %13 = or disjoint i32 %6, %12
  %14 = zext nneg i32 %6 to i64
  %15 = getelementptr inbounds nuw float, ptr addrspacecast (ptr addrspace(3) @_ZZ9transposeE4tile to ptr), i64 %14, !dbg !73
  br label %20, !dbg !74

16:                                               ; preds = %20
  tail call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0), !dbg !75
  %17 = getelementptr inbounds nuw [33 x float], ptr addrspacecast (ptr addrspace(3) @_ZZ9transposeE4tile to ptr), i64 %14
  %18 = or disjoint i32 %12, %7
  %19 = or disjoint i32 %6, %9
  br label %34, !dbg !76

20:                                               ; preds = %4, %20
  %21 = phi i32 [ 0, %4 ], [ %31, %20 ]
  %22 = add nuw nsw i32 %10, %21, !dbg !77
  %23 = mul i32 %22, %3, !dbg !78
  %24 = add i32 %13, %23, !dbg !79
  %25 = zext i32 %24 to i64, !dbg !80
  %26 = getelementptr inbounds nuw float, ptr %0, i64 %25, !dbg !80
  %27 = load float, ptr %26, align 4, !dbg !80, !tbaa !30
  %28 = add nuw nsw i32 %21, %7, !dbg !81
  %29 = zext nneg i32 %28 to i64, !dbg !82
  %30 = getelementptr inbounds nuw [33 x float], ptr %15, i64 %29, !dbg !82
  store float %27, ptr %30, align 4, !dbg !83, !tbaa !30
  %31 = add nuw nsw i32 %21, 8, !dbg !84
  %32 = icmp samesign ult i32 %21, 24, !dbg !85
  br i1 %32, label %20, label %16, !dbg !74, !llvm.loop !86

33:                                               ; preds = %34
  ret void, !dbg !88

34:                                               ; preds = %16, %34
  %35 = phi i32 [ 0, %16 ], [ %45, %34 ]
  %36 = add nuw nsw i32 %35, %7, !dbg !89
  %37 = zext nneg i32 %36 to i64, !dbg !90
  %38 = getelementptr inbounds nuw float, ptr %17, i64 %37, !dbg !90
  %39 = load float, ptr %38, align 4, !dbg !90, !tbaa !30
  %40 = add i32 %18, %35, !dbg !91
  %41 = mul i32 %40, %2, !dbg !92
  %42 = add i32 %19, %41, !dbg !93
  %43 = zext i32 %42 to i64, !dbg !94
  %44 = getelementptr inbounds nuw float, ptr %1, i64 %43, !dbg !94
  store float %39, ptr %44, align 4, !dbg !95, !tbaa !30
  %45 = add nuw nsw i32 %35, 8, !dbg !96
  %46 = icmp samesign ult i32 %35, 24, !dbg !97
  br i1 %46, label %34, label %33, !dbg !76, !llvm.loop !98
}

; Function Attrs: convergent mustprogress noinline norecurse nounwind
define dso_local ptx_kernel void @manybar(ptr noundef writeonly captures(none) %0, i32 noundef %1) local_unnamed_addr #0 !dbg !100 {
  %3 = icmp sgt i32 %1, 0, !dbg !101
  br i1 %3, label %9, label %4, !dbg !102

4:                                                ; preds = %9, %2
  %5 = sitofp i32 %1 to float, !dbg !103
  %6 = tail call noundef range(i32 0, 1024) i32 @llvm.nvvm.read.ptx.sreg.tid.x(), !dbg !104
  %7 = zext nneg i32 %6 to i64, !dbg !106
  %8 = getelementptr inbounds nuw float, ptr %0, i64 %7, !dbg !106
  store float %5, ptr %8, align 4, !dbg !107, !tbaa !30
  ret void, !dbg !108

9:                                                ; preds = %2, %9
  %10 = phi i32 [ %11, %9 ], [ 0, %2 ]
  tail call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0), !dbg !109
  %11 = add nuw nsw i32 %10, 1, !dbg !110
  %12 = icmp eq i32 %11, %1, !dbg !101
  br i1 %12, label %4, label %9, !dbg !102, !llvm.loop !111
}

; Function Attrs: mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare noundef range(i32 0, 2147483647) i32 @llvm.nvvm.read.ptx.sreg.ctaid.x() #1

; Function Attrs: mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare noundef range(i32 1, 1025) i32 @llvm.nvvm.read.ptx.sreg.ntid.x() #1

; Function Attrs: mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare noundef range(i32 0, 1024) i32 @llvm.nvvm.read.ptx.sreg.tid.x() #1

; Function Attrs: convergent nocallback nounwind memory(inaccessiblemem: readwrite)
declare float @llvm.nvvm.shfl.sync.down.f32(i32, float, i32, i32) #3

; Function Attrs: mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare noundef range(i32 0, 65535) i32 @llvm.nvvm.read.ptx.sreg.ctaid.y() #1

attributes #0 = { convergent mustprogress noinline norecurse nounwind "frame-pointer"="all" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "target-cpu"="sm_80" "target-features"="+ptx80,+ptx88,+sm_80" "uniform-work-group-size"="true" }
attributes #1 = { mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none) }
attributes #2 = { convergent nocallback nounwind }
attributes #3 = { convergent nocallback nounwind memory(inaccessiblemem: readwrite) }

!llvm.dbg.cu = !{!0}
!llvm.module.flags = !{!2, !3, !4, !5, !6}
!llvm.ident = !{!7}
!llvm.errno.tbaa = !{!8}

!0 = distinct !DICompileUnit(language: DW_LANG_C_plus_plus_14, file: !1, producer: "Debian clang version 22.1.8 (1~deb12u1)", isOptimized: true, runtimeVersion: 0, emissionKind: DebugDirectivesOnly, splitDebugInlining: false, nameTableKind: None)
!1 = !DIFile(filename: "block_kernels.cu", directory: "/tmp/cu")
!2 = !{i32 7, !"Dwarf Version", i32 2}
!3 = !{i32 2, !"Debug Info Version", i32 3}
!4 = !{i32 1, !"wchar_size", i32 4}
!5 = !{i32 4, !"nvvm-reflect-ftz", i32 0}
!6 = !{i32 7, !"frame-pointer", i32 2}
!7 = !{!"Debian clang version 22.1.8 (1~deb12u1)"}
!8 = !{!9, !9, i64 0}
!9 = !{!"int", !10, i64 0}
!10 = !{!"omnipotent char", !11, i64 0}
!11 = !{!"Simple C++ TBAA"}
!12 = distinct !DISubprogram(name: "reduce", scope: !1, file: !1, line: 11, type: !13, scopeLine: 11, flags: DIFlagPrototyped, spFlags: DISPFlagDefinition | DISPFlagOptimized, unit: !0)
!13 = !DISubroutineType(types: !14)
!14 = !{}
!15 = !DILocation(line: 6, column: 22, scope: !16, inlinedAt: !17)
!16 = distinct !DISubprogram(name: "bid", scope: !1, file: !1, line: 6, type: !13, scopeLine: 6, flags: DIFlagPrototyped, spFlags: DISPFlagLocalToUnit | DISPFlagDefinition | DISPFlagOptimized, unit: !0)
!17 = distinct !DILocation(line: 14, column: 16, scope: !12)
!18 = !DILocation(line: 8, column: 23, scope: !19, inlinedAt: !20)
!19 = distinct !DISubprogram(name: "ntid", scope: !1, file: !1, line: 8, type: !13, scopeLine: 8, flags: DIFlagPrototyped, spFlags: DISPFlagLocalToUnit | DISPFlagDefinition | DISPFlagOptimized, unit: !0)
!20 = distinct !DILocation(line: 14, column: 24, scope: !12)
!21 = !DILocation(line: 14, column: 22, scope: !12)
!22 = !DILocation(line: 5, column: 22, scope: !23, inlinedAt: !24)
!23 = distinct !DISubprogram(name: "tid", scope: !1, file: !1, line: 5, type: !13, scopeLine: 5, flags: DIFlagPrototyped, spFlags: DISPFlagLocalToUnit | DISPFlagDefinition | DISPFlagOptimized, unit: !0)
!24 = distinct !DILocation(line: 14, column: 33, scope: !12)
!25 = !DILocation(line: 14, column: 31, scope: !12)
!26 = !DILocation(line: 14, column: 42, scope: !12)
!27 = !DILocation(line: 14, column: 3, scope: !12)
!28 = !DILocation(line: 15, column: 3, scope: !12)
!29 = !DILocation(line: 14, column: 104, scope: !12)
!30 = !{!31, !31, i64 0}
!31 = !{!"float", !10, i64 0}
!32 = !DILocation(line: 14, column: 101, scope: !12)
!33 = !DILocation(line: 14, column: 54, scope: !12)
!34 = distinct !{!34, !27, !35, !36, !37}
!35 = !DILocation(line: 14, column: 108, scope: !12)
!36 = !{!"llvm.loop.mustprogress"}
!37 = !{!"llvm.loop.unroll.disable"}
!38 = !DILocation(line: 16, column: 14, scope: !12)
!39 = !DILocation(line: 16, column: 20, scope: !12)
!40 = !DILocation(line: 9, column: 39, scope: !41, inlinedAt: !42)
!41 = distinct !DISubprogram(name: "down", scope: !1, file: !1, line: 9, type: !13, scopeLine: 9, flags: DIFlagPrototyped, spFlags: DISPFlagLocalToUnit | DISPFlagDefinition | DISPFlagOptimized, unit: !0)
!42 = distinct !DILocation(line: 15, column: 37, scope: !12)
!43 = !DILocation(line: 15, column: 34, scope: !12)
!44 = !DILocation(line: 15, column: 25, scope: !12)
!45 = !DILocation(line: 15, column: 20, scope: !12)
!46 = distinct !{!46, !28, !47, !36, !37}
!47 = !DILocation(line: 15, column: 46, scope: !12)
!48 = !DILocation(line: 16, column: 40, scope: !12)
!49 = !DILocation(line: 16, column: 26, scope: !12)
!50 = !DILocation(line: 17, column: 3, scope: !12)
!51 = !DILocation(line: 18, column: 13, scope: !12)
!52 = !DILocation(line: 19, column: 24, scope: !12)
!53 = !DILocation(line: 19, column: 15, scope: !12)
!54 = !DILocation(line: 19, column: 9, scope: !12)
!55 = !DILocation(line: 19, column: 31, scope: !12)
!56 = !DILocation(line: 20, column: 5, scope: !12)
!57 = !DILocation(line: 21, column: 15, scope: !12)
!58 = !DILocation(line: 9, column: 39, scope: !41, inlinedAt: !59)
!59 = distinct !DILocation(line: 20, column: 39, scope: !12)
!60 = !DILocation(line: 20, column: 36, scope: !12)
!61 = !DILocation(line: 20, column: 27, scope: !12)
!62 = !DILocation(line: 20, column: 22, scope: !12)
!63 = distinct !{!63, !56, !64, !36, !37}
!64 = !DILocation(line: 20, column: 48, scope: !12)
!65 = !DILocation(line: 21, column: 32, scope: !12)
!66 = !DILocation(line: 21, column: 21, scope: !12)
!67 = !DILocation(line: 23, column: 1, scope: !12)
!68 = distinct !DISubprogram(name: "transpose", scope: !1, file: !1, line: 25, type: !13, scopeLine: 25, flags: DIFlagPrototyped, spFlags: DISPFlagDefinition | DISPFlagOptimized, unit: !0)
!69 = !DILocation(line: 5, column: 22, scope: !23, inlinedAt: !70)
!70 = distinct !DILocation(line: 27, column: 11, scope: !68)
!71 = !DILocation(line: 27, column: 17, scope: !68)
!72 = !DILocation(line: 27, column: 33, scope: !68)
!73 = !DILocation(line: 28, column: 8, scope: !68)
!74 = !DILocation(line: 28, column: 3, scope: !68)
!75 = !DILocation(line: 29, column: 3, scope: !68)
!76 = !DILocation(line: 30, column: 3, scope: !68)
!77 = !DILocation(line: 28, column: 72, scope: !68)
!78 = !DILocation(line: 28, column: 77, scope: !68)
!79 = !DILocation(line: 28, column: 100, scope: !68)
!80 = !DILocation(line: 28, column: 52, scope: !68)
!81 = !DILocation(line: 28, column: 42, scope: !68)
!82 = !DILocation(line: 28, column: 35, scope: !68)
!83 = !DILocation(line: 28, column: 50, scope: !68)
!84 = !DILocation(line: 28, column: 29, scope: !68)
!85 = !DILocation(line: 28, column: 21, scope: !68)
!86 = distinct !{!86, !74, !87, !36, !37}
!87 = !DILocation(line: 28, column: 103, scope: !68)
!88 = !DILocation(line: 31, column: 1, scope: !68)
!89 = !DILocation(line: 30, column: 98, scope: !68)
!90 = !DILocation(line: 30, column: 88, scope: !68)
!91 = !DILocation(line: 30, column: 55, scope: !68)
!92 = !DILocation(line: 30, column: 60, scope: !68)
!93 = !DILocation(line: 30, column: 81, scope: !68)
!94 = !DILocation(line: 30, column: 35, scope: !68)
!95 = !DILocation(line: 30, column: 86, scope: !68)
!96 = !DILocation(line: 30, column: 29, scope: !68)
!97 = !DILocation(line: 30, column: 21, scope: !68)
!98 = distinct !{!98, !76, !99, !36, !37}
!99 = !DILocation(line: 30, column: 101, scope: !68)
!100 = distinct !DISubprogram(name: "manybar", scope: !1, file: !1, line: 32, type: !13, scopeLine: 32, flags: DIFlagPrototyped, spFlags: DISPFlagDefinition | DISPFlagOptimized, unit: !0)
!101 = !DILocation(line: 32, column: 55, scope: !100)
!102 = !DILocation(line: 32, column: 37, scope: !100)
!103 = !DILocation(line: 32, column: 95, scope: !100)
!104 = !DILocation(line: 5, column: 22, scope: !23, inlinedAt: !105)
!105 = distinct !DILocation(line: 32, column: 86, scope: !100)
!106 = !DILocation(line: 32, column: 82, scope: !100)
!107 = !DILocation(line: 32, column: 93, scope: !100)
!108 = !DILocation(line: 32, column: 98, scope: !100)
!109 = !DILocation(line: 32, column: 65, scope: !100)
!110 = !DILocation(line: 32, column: 61, scope: !100)
!111 = distinct !{!111, !102, !112, !36, !37}
!112 = !DILocation(line: 32, column: 79, scope: !100)
