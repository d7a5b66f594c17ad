(* H less a page: (C2) without one of its pages. *)
(* weaken Trace.v s|ok_C2 : within_deadline P + g_alpha (p_g P) + p_v P - 1|ok_C2 : within_deadline P + g_alpha (p_g P) + p_v P - 2| *)
(* fails Reserve.v lemma_2 *)
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
    (Collection 15 1 1 1 0 0) 1 1 11 5 0 2 0 0 2 1 1 0
    false 0 0 [].
Definition weak_trace : trace := Trace
  [Job 0 0 14 (Req 0) 2 2;
   Job 0 0 15 (Gc 1) 0 0;
   Job 0 0 15 (Gc 2) 0 0]
  [Step 0 0 2 (AProg 1) false]
  1 1.
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
  free_pages weak_processor weak_trace 0 < pending weak_processor weak_trace 0.
Proof. vm_compute. reflexivity. Qed.
