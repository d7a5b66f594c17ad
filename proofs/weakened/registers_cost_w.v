(* c_w = t_w where a page takes longer on the bus. *)
(* weaken Registers.v s|cost_w (d : device) : Z := Z.max (t_w d) (bus d)|cost_w (d : device) : Z := t_w d| *)
(* fails Cached.v lemma_4_registers *)
From Coq Require Import ZArith List Lia Bool.
From Rtflash Require Import Sums Demand Victims Sporadic Trace Check Closing Registers
  CheckRegisters.
Import ListNotations.
Open Scope Z_scope.

Definition weak_device : device := Device 2 1 4 4 1.
Definition weak_processor : processor := cached_stripe weak_device
  [Demanded true 3 422 12 0]
  (Stated 20 3 5 0 0 false []) 9 3 1.
Definition weak_trace : rtrace := RTrace
  [Job 5 5 25 (Gc 1) 0 0;
   Job 5 5 17 (Req 0) 3 3]
  [RStep 1 5 9 9 10 (AProg 1) false;
   RStep 1 9 13 13 14 (AProg 1) false;
   RStep 1 13 17 17 18 (AProg 1) true]
  6 17.
Definition weak_blocks (k : nat) : list block := [].

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
(* Job 1 misses its deadline, 17, by 1. *)
Example broken : over weak_trace 1 17 = false /\ j_due (vjb weak_trace 1) = 17 /\
  17 <= v_end weak_trace.
Proof. vm_compute. repeat split; discriminate. Qed.
