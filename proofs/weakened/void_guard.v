(* R3 void where f - b is one page short of H. *)
(* weaken Trace.v s|z_pass z = None /\\ z_f z - b >= p_H P /\\ long = 0 /\\ s_last s = true|z_pass z = None /\\ z_f z - b >= p_H P - 1 /\\ long = 0 /\\ s_last s = true| *)
(* weaken Check.v s|is_none (z_pass z) \&\& (p_H P <=? z_f z - b) \&\& (long =? 0) \&\& s_last s|is_none (z_pass z) \&\& (p_H P - 1 <=? z_f z - b) \&\& (long =? 0) \&\& s_last s| *)
(* fails Reserve.v invariant_begin *)
From Coq Require Import ZArith List Lia Bool.
From Rtflash Require Import Sums Demand Victims Sporadic Trace Check.
Import ListNotations.
Open Scope Z_scope.

Ltac each H :=
  simpl in H; repeat (destruct H as [<-|H]; [unfold request_ok; simpl; lia|]); contradiction.
Ltac parameters :=
  constructor; [intros r H; each H| | | |vm_compute; discriminate|vm_compute; discriminate
    |vm_compute; reflexivity|vm_compute; discriminate|vm_compute; discriminate
    | | |intros j H; each H];
  try (unfold collection_ok; simpl; lia); try (simpl; repeat split; intros; try lia; discriminate).

Definition weak_processor : processor :=
  Processor [Request 4 16 14 0 2 2]
    (Collection 15 1 1 1 0 0) 1 1 11 5 0 2 0 0 2 1 2 0
    false 0 0 [].
Definition weak_trace : trace := Trace
  [Job 0 0 14 (Req 0) 1 1;
   Job 16 16 30 (Req 0) 2 2;
   Job 0 0 15 (Gc 1) 0 0;
   Job 16 16 31 (Gc 2) 0 0;
   Job 16 16 31 (Gc 3) 0 0]
  [Step 0 0 1 (AProg 1) true;
   Step 2 1 1 AVoid true;
   Step 1 16 18 (AProg 1) false]
  2 17.
Definition weak_blocks (k : nat) : list block :=
  [].

Example weak_parameters : parameters_ok weak_processor.
Proof. parameters. Qed.
Example weak_accepted : decide (p_rs weak_processor) (p_g weak_processor) = Accepted.
Proof. vm_compute. reflexivity. Qed.
Example weak_obeys : obeys weak_processor weak_trace.
Proof. apply (obeysb_spec _ _ weak_blocks). vm_compute. reflexivity. Qed.
(* A page is lacking: f < b. *)
Example broken :
  free_pages weak_processor weak_trace 16 < pending weak_processor weak_trace 16.
Proof. vm_compute. reflexivity. Qed.
