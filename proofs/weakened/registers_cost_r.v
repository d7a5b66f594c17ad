(* c_r = t_r where a page takes longer on the bus. *)
(* weaken Registers.v s|cost_r (d : device) : Z := Z.max (t_r d) (bus d)|cost_r (d : device) : Z := t_r d| *)
(* fails Cached.v lemma_4_registers *)
From Coq Require Import ZArith List Lia Bool.
From Rtflash Require Import Sums Demand Victims Sporadic Trace Check Closing Registers
  CheckRegisters.
Import ListNotations.
Open Scope Z_scope.

Definition weak_device : device := Device 1 8 1 2 2.
Definition weak_processor : processor := cached_stripe weak_device
  [Demanded false 3 1032 11 0]
  (Stated 1 1 1 1 0 false []) 3 2 1.
Definition weak_trace : rtrace := RTrace
  [Job 4 4 15 (Req 0) 0 3]
  [RStep 0 4 5 5 9 ARead false;
   RStep 0 5 6 9 13 ARead false;
   RStep 0 9 10 13 17 ARead true]
  6 15.
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
(* Job 0 misses its deadline, 15, by 2. *)
Example broken : over weak_trace 0 15 = false /\ j_due (vjb weak_trace 0) = 15 /\
  15 <= v_end weak_trace.
Proof. vm_compute. repeat split; discriminate. Qed.
