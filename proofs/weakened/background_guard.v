(* Background writes where f - b >= H before them, not after. *)
(* weaken Trace.v s|1 <= k /\\ z_f z - k - b >= p_H P)|1 <= k /\\ z_f z - b >= p_H P)| *)
(* weaken Check.v s|(1 <=? k) \&\& (p_H P <=? z_f z - k - b)|(1 <=? k) \&\& (p_H P <=? z_f z - b)| *)
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
  Processor [Request 2 20 7 0 1 2]
    (Collection 15 1 3 3 0 3) 1 1 12 3 0 1 0 0 3 3 2 0
    false 0 0 [].
Definition weak_trace : trace := Trace
  [Job 4 4 1060 Bg 2 1;
   Job 5 5 12 (Req 0) 2 2;
   Job 5 5 20 (Gc 1) 0 0;
   Job 5 5 20 (Gc 2) 0 0]
  [Step 0 4 7 (AProg 1) false]
  2 6.
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
  free_pages weak_processor weak_trace 5 < pending weak_processor weak_trace 5.
Proof. vm_compute. reflexivity. Qed.
