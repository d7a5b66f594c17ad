(* J without the passes. *)
(* weaken Registers.v s|suml (fun r => due_jobs r L) rs + due_passes rs g L\.|suml (fun r => due_jobs r L) rs.| *)
(* fails Cached.v jobs_due *)
From Coq Require Import ZArith List Lia Bool.
From Rtflash Require Import Sums Demand Victims Sporadic Trace Check Closing Registers
  CheckRegisters.
Import ListNotations.
Open Scope Z_scope.

Definition weak_device : device := Device 6 1 3 2 2.
Definition weak_processor : processor := cached_stripe weak_device
  [Demanded false 1 33 29 0; Demanded true 4 86 48 0]
  (Stated 10 4 7 0 0 false []) 6 4 2.
Definition weak_trace : rtrace := RTrace
  [Job 20 20 49 (Req 0) 0 1;
   Job 22 22 70 (Req 1) 4 4;
   Job 22 22 32 (Gc 1) 0 0]
  [RStep 0 20 26 26 30 ARead true;
   RStep 2 30 30 30 30 (APick 0) false;
   RStep 2 30 33 33 33 AErase true]
  8 32.
Definition weak_blocks (k : nat) : list block :=
  match k with
  | 1 => [Block Erased 4 0; Block Erased 4 0; Block Closed 0 0; Block Closed 0 0;
      Block Closed 0 0; Block Closed 0 0]
  | _ => []
  end%nat.

Example weak_parameters : parameters_ok weak_processor /\ cached weak_device weak_processor.
Proof. stripe_parameters. Qed.
Example weak_accepted : T2_alone weak_device (p_rs weak_processor) (p_g weak_processor).
Proof.
  destruct weak_parameters as [ok _]. apply accepted_alone_spec;
    [unfold device_ok; simpl; lia|apply (ok_requests _ ok)|apply (ok_collection _ ok)|].
  vm_compute. reflexivity.
Qed.
Example weak_obeys : obeys_registers weak_device weak_processor weak_trace.
Proof. apply (registersb_spec _ _ _ weak_blocks). vm_compute. reflexivity. Qed.
(* Job 2 misses its deadline, 32, by 1. *)
Example broken : over weak_trace 2 32 = false /\ j_due (vjb weak_trace 2) = 32 /\
  32 <= v_end weak_trace.
Proof. vm_compute. repeat split; discriminate. Qed.
