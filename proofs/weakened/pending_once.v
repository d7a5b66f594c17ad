(* W with one request of each task: of a request with D = 2T two are pending. *)
(* weaken Trace.v s|cdiv (r_D r) (r_T r) \* r_w r|r_w r| *)
(* fails Reserve.v pending_bounds *)
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
  Processor [Request 6 25 50 0 3 2; Request 27 400 30 0 1 0]
    (Collection 40 2 4 2 0 0) 1 4 11 16 0 1 0 0 1 2 7 2
    false 0 0 [].
Definition weak_trace : trace := Trace
  [Job 0 0 50 (Req 0) 2 2;
   Job 25 25 75 (Req 0) 2 2;
   Job 0 0 30 (Req 1) 0 27;
   Job 0 0 40 (Gc 1) 0 0;
   Job 25 25 65 (Gc 2) 0 0]
  [Step 2 0 1 ARead false;
   Step 2 1 2 ARead false;
   Step 2 2 3 ARead false;
   Step 2 3 4 ARead false;
   Step 2 4 5 ARead false;
   Step 2 5 6 ARead false;
   Step 2 6 7 ARead false;
   Step 2 7 8 ARead false;
   Step 2 8 9 ARead false;
   Step 2 9 10 ARead false;
   Step 2 10 11 ARead false;
   Step 2 11 12 ARead false;
   Step 2 12 13 ARead false;
   Step 2 13 14 ARead false;
   Step 2 14 15 ARead false;
   Step 2 15 16 ARead false;
   Step 2 16 17 ARead false;
   Step 2 17 18 ARead false;
   Step 2 18 19 ARead false;
   Step 2 19 20 ARead false;
   Step 2 20 21 ARead false;
   Step 2 21 22 ARead false;
   Step 2 22 23 ARead false;
   Step 2 23 24 ARead false;
   Step 2 24 25 ARead false;
   Step 2 25 26 ARead false;
   Step 2 26 27 ARead true]
  20 25.
Definition weak_blocks (k : nat) : list block :=
  [].

Example weak_parameters : parameters_ok weak_processor.
Proof. parameters. Qed.
Example weak_accepted : decide (p_rs weak_processor) (p_g weak_processor) = Accepted.
Proof. vm_compute. reflexivity. Qed.
Example weak_obeys : obeys weak_processor weak_trace.
Proof. apply (obeysb_spec _ _ weak_blocks). vm_compute. reflexivity. Qed.
(* More is pending than W. *)
Example broken :
  suml r_w (p_rs weak_processor) < pending weak_processor weak_trace 25.
Proof. vm_compute. reflexivity. Qed.
