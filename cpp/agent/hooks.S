// Where hooks lead to: a stub for each site, which says its number, and what saves the registers around the agent.
//
// The frames are described for whoever unwinds the stack: a debugger sees the caller behind a hook, and exceptions of C++ pass. All registers
// are kept, also those that calls may change: a compiler that knows the function knows which of them it does not change, and relies on it.

        .text

// ---- for functions that are only entered: nothing of the hook is left when the function begins

        .type   entered, @function
entered:
        .cfi_startproc
        .cfi_def_cfa_offset 16
        push    %rbp
        .cfi_def_cfa_offset 24
        .cfi_offset rbp, -24
        push    %r10
        push    %rax
        push    %r9
        push    %r8
        push    %rcx
        push    %rdx
        push    %rsi
        push    %rdi
        mov     %rsp, %rdi
        push    %r11
        lea     64(%rdi), %rbp
        .cfi_def_cfa rbp, 24
        and     $-16, %rsp
        call    mopsus_agent_entered
        lea     -72(%rbp), %rsp
        mov     %rax, 8(%rbp)           // where the number of the site was
        pop     %r11
        pop     %rdi
        pop     %rsi
        pop     %rdx
        pop     %rcx
        pop     %r8
        pop     %r9
        pop     %rax
        pop     %r10
        pop     %rbp
        .cfi_def_cfa rsp, 16
        .cfi_restore rbp
        lea     8(%rsp), %rsp
        .cfi_def_cfa_offset 8
        jmp     *-8(%rsp)               // no signal handler writes there
        .cfi_endproc
        .size   entered, . - entered

// ---- for functions whose return matters: the hook calls them

        .set    KEPT, 10
        .set    SAVED, 8 * (8 + KEPT)
        .set    MORE, 8 * 8 + ((SAVED + 8) & 8)  // for registers that the agent does not look at; it keeps the stack aligned

        .type   called, @function
called:
        .cfi_startproc
        .cfi_def_cfa_offset 16
        push    %rbp
        .cfi_def_cfa_offset 24
        .cfi_offset rbp, -24
        mov     %rsp, %rbp
        .cfi_def_cfa_register rbp
        sub     $(SAVED + MORE), %rsp
        mov     %rdi, -SAVED+0(%rbp)
        mov     %rsi, -SAVED+8(%rbp)
        mov     %rdx, -SAVED+16(%rbp)
        mov     %rcx, -SAVED+24(%rbp)
        mov     %r8,  -SAVED+32(%rbp)
        mov     %r9,  -SAVED+40(%rbp)
        mov     %rax, -SAVED-8(%rbp)
        mov     %r10, -SAVED-16(%rbp)
        mov     %r11, -SAVED-24(%rbp)
        lea     -SAVED(%rbp), %rdi
        call    mopsus_agent_called
        mov     %rax, -SAVED-32(%rbp)
        mov     -SAVED+0(%rbp), %rdi
        mov     -SAVED+8(%rbp), %rsi
        mov     -SAVED+16(%rbp), %rdx
        mov     -SAVED+24(%rbp), %rcx
        mov     -SAVED+32(%rbp), %r8
        mov     -SAVED+40(%rbp), %r9
        mov     -SAVED-8(%rbp), %rax
        mov     -SAVED-16(%rbp), %r10
        mov     -SAVED-24(%rbp), %r11
        call    *-SAVED-32(%rbp)
        mov     %rax, -SAVED+48(%rbp)
        mov     %rdx, -SAVED+56(%rbp)
        mov     %rdi, -SAVED-8(%rbp)
        mov     %rsi, -SAVED-16(%rbp)
        mov     %rcx, -SAVED-24(%rbp)
        mov     %r8,  -SAVED-32(%rbp)
        mov     %r9,  -SAVED-40(%rbp)
        mov     %r10, -SAVED-48(%rbp)
        mov     %r11, -SAVED-56(%rbp)
        lea     -SAVED(%rbp), %rdi
        call    mopsus_agent_returned
        mov     -SAVED+48(%rbp), %rax
        mov     -SAVED+56(%rbp), %rdx
        mov     -SAVED-8(%rbp), %rdi
        mov     -SAVED-16(%rbp), %rsi
        mov     -SAVED-24(%rbp), %rcx
        mov     -SAVED-32(%rbp), %r8
        mov     -SAVED-40(%rbp), %r9
        mov     -SAVED-48(%rbp), %r10
        mov     -SAVED-56(%rbp), %r11
        leave
        .cfi_def_cfa rsp, 16
        .cfi_restore rbp
        lea     8(%rsp), %rsp
        .cfi_def_cfa_offset 8
        ret
        .cfi_endproc
        .size   called, . - called

// ---- the stubs, 16 bytes each; as many as `kSites`

        .macro  stubs name, target
        .balign 16
        .globl  \name
        .type   \name, @object
\name:
        .cfi_startproc
        .set    number, 0
        .rept   256
        .balign 16
        .cfi_def_cfa_offset 8
        .byte   0x68                    // push $number, always in five bytes
        .long   number
        .cfi_def_cfa_offset 16
        jmp     \target
        .set    number, number + 1
        .endr
        .balign 16
        .cfi_endproc
        .size   \name, . - \name
        .endm

        stubs   mopsus_agent_entering, entered
        stubs   mopsus_agent_calling, called

        .section .note.GNU-stack, "", @progbits
