#!/bin/sh
cat <<'END'
	.section	.text.counts,"ax",@progbits
        /*0010*/                   MEMBAR.ALL.GPU ;
	.section	.text.sums,"ax",@progbits
        /*0010*/                   MEMBAR.ALL.GPU ;
END
