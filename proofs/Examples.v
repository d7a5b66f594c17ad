(* Not vacuous: traces, made by a simulator with a page map, that satisfy every hypothesis of the
   theorems about traces. A chip of a stripe; a superblock; a chip with a server whose passes run
   beside the others; a chip with background jobs. Each has a void job, a pass, and copies. *)
From Coq Require Import ZArith List Lia Bool.
From Rtflash Require Import Sums Demand Victims Sporadic Trace Reserve Check Costs Server Edf
  Closing.
Import ListNotations.
Open Scope Z_scope.

(* Parameters of a concrete processor, by computation. *)
Ltac each H :=
  simpl in H; repeat (destruct H as [<-|H]; [unfold request_ok; simpl; lia|]); contradiction.
Ltac parameters :=
  constructor; [intros r H; each H| | | |vm_compute; discriminate|vm_compute; discriminate
    |vm_compute; reflexivity|vm_compute; discriminate|vm_compute; discriminate
    | | |intros j H; each H];
  try (unfold collection_ok; simpl; lia); try (simpl; repeat split; intros; try lia; discriminate).

Definition stripe_processor : processor :=
  Processor [Request 4 10 6 0 2 2]
    (Collection 36 2 5 2 0 0) 1 4 14 25 0 2 2 0 2 1 11 2
    false 0 0 [].
Definition stripe_trace : trace := Trace
  [Job 0 0 6 (Req 0) 2 2;
   Job 10 10 16 (Req 0) 2 2;
   Job 28 28 34 (Req 0) 2 2;
   Job 38 38 44 (Req 0) 2 2;
   Job 48 48 54 (Req 0) 2 2;
   Job 58 58 64 (Req 0) 2 2;
   Job 0 0 36 (Gc 1) 0 0;
   Job 10 10 46 (Gc 2) 0 0;
   Job 28 28 64 (Gc 3) 0 0;
   Job 38 38 74 (Gc 4) 0 0;
   Job 48 48 84 (Gc 5) 0 0;
   Job 58 58 94 (Gc 6) 0 0]
  [Step 0 0 2 (AProg 1) false;
   Step 0 2 4 (AProg 1) true;
   Step 6 4 4 (APick 1) false;
   Step 6 4 6 (ACopy 1) false;
   Step 6 6 7 AErase true;
   Step 1 10 12 (AProg 1) false;
   Step 1 12 14 (AProg 1) true;
   Step 7 14 14 (APick 1) false;
   Step 7 14 16 (ACopy 1) false;
   Step 7 16 17 AErase true;
   Step 2 28 30 (AProg 1) false;
   Step 2 30 31 (AProg 1) true;
   Step 8 31 31 AVoid true;
   Step 3 38 40 (AProg 1) false;
   Step 3 40 42 (AProg 1) true;
   Step 9 42 42 (APick 0) false;
   Step 9 42 43 AErase true;
   Step 4 48 50 (AProg 1) false;
   Step 4 50 52 (AProg 1) true;
   Step 10 52 52 AVoid true;
   Step 5 58 60 (AProg 1) false]
  11 60.
Definition stripe_blocks (k : nat) : list block :=
  match k with
  | 2 => [Block Erased 4 0; Block Closed 0 1; Block Closed 0 1; Block Closed 0 2; Block Closed 0
      1; Block Closed 0 2; Block Closed 0 1; Block Closed 0 4; Block Closed 0 3; Block Closed 0 4;
      Block Erased 4 0; Block Open 1 3; Block Closed 0 2; Block Closed 0 1]
  | 7 => [Block Erased 4 0; Block Erased 4 0; Block Closed 0 1; Block Closed 0 2; Block Closed 0
      1; Block Closed 0 1; Block Closed 0 1; Block Closed 0 4; Block Closed 0 3; Block Closed 0 4;
      Block Open 2 2; Block Closed 0 3; Block Closed 0 2; Block Closed 0 1]
  | 15 => [Block Open 1 3; Block Erased 4 0; Block Erased 4 0; Block Closed 0 2; Block Closed 0 0;
      Block Closed 0 1; Block Closed 0 0; Block Closed 0 4; Block Closed 0 3; Block Closed 0 4;
      Block Closed 0 2; Block Closed 0 3; Block Closed 0 2; Block Closed 0 1]
  | _ => []
  end%nat.

Definition superblock_processor : processor :=
  Processor [Request 2 23 18 0 2 2]
    (Collection 37 2 8 2 0 0) 2 4 9 17 2 2 2 0 2 2 7 2
    false 0 0 [].
Definition superblock_trace : trace := Trace
  [Job 0 0 18 (Req 0) 2 1;
   Job 23 23 41 (Req 0) 2 1;
   Job 46 46 64 (Req 0) 2 1;
   Job 69 69 87 (Req 0) 2 1;
   Job 0 0 37 (Gc 1) 0 0;
   Job 23 23 60 (Gc 2) 0 0;
   Job 46 46 83 (Gc 3) 0 0;
   Job 69 69 106 (Gc 4) 0 0]
  [Step 0 0 2 (AProg 2) true;
   Step 4 2 2 (APick 1) false;
   Step 4 2 4 (AGcRead 1) false;
   Step 4 4 6 (ACopy 1) false;
   Step 4 6 8 AErase true;
   Step 1 23 24 (AProg 2) true;
   Step 5 24 24 (APick 1) false;
   Step 5 24 26 (AGcRead 1) false;
   Step 5 26 28 (ACopy 1) false;
   Step 5 28 30 AErase true;
   Step 2 46 48 (AProg 2) true;
   Step 6 48 48 AVoid true;
   Step 3 69 71 (AProg 2) true;
   Step 7 71 71 (APick 1) false;
   Step 7 71 73 (AGcRead 1) false;
   Step 7 73 75 (ACopy 1) false;
   Step 7 75 76 AErase true]
  7 76.
Definition superblock_blocks (k : nat) : list block :=
  match k with
  | 1 => [Block Closed 0 2; Block Closed 0 3; Block Closed 0 3; Block Closed 0 1; Block Closed 0
      3; Block Closed 0 1; Block Closed 0 1; Block Open 1 3; Block Erased 4 0]
  | 6 => [Block Closed 0 2; Block Closed 0 2; Block Closed 0 2; Block Open 2 2; Block Closed 0 3;
      Block Closed 0 1; Block Closed 0 1; Block Closed 0 4; Block Erased 4 0]
  | 13 => [Block Closed 0 2; Block Closed 0 1; Block Closed 0 2; Block Closed 0 2; Block Closed 0
      2; Block Open 1 3; Block Closed 0 1; Block Closed 0 4; Block Erased 4 0]
  | _ => []
  end%nat.

Definition served_processor : processor :=
  Processor [Request 4 34 31 0 2 2; Request 4 23 11 0 2 0]
    (Collection 24 1 4 2 300 2) 1 3 10 15 0 2 2 0 1 2 7 2
    true 2 2 [Served 4 2 4 98; Served 13 0 1 118; Served 21 0 1 138; Served 21 1 3 205].
Definition served_trace : trace := Trace
  [Job 0 0 31 (Req 0) 2 2;
   Job 0 0 11 (Req 1) 0 2;
   Job 4 4 98 (Srv 0) 4 2;
   Job 13 13 118 (Srv 1) 1 0;
   Job 21 21 138 (Srv 2) 1 0;
   Job 21 21 205 (Srv 3) 3 1;
   Job 23 23 34 (Req 1) 0 2;
   Job 34 34 65 (Req 0) 2 2;
   Job 57 57 68 (Req 1) 0 2;
   Job 68 68 99 (Req 0) 2 2;
   Job 80 80 91 (Req 1) 0 2;
   Job 0 0 24 (Gc 1) 0 0;
   Job 0 0 24 (Gc 2) 0 0;
   Job 34 34 58 (Gc 3) 0 0;
   Job 34 34 58 (Gc 4) 0 0;
   Job 68 68 92 (Gc 5) 0 0;
   Job 68 68 92 (Gc 6) 0 0]
  [Step 1 0 2 ARead false;
   Step 1 2 4 ARead true;
   Step 11 4 4 (APick 1) false;
   Step 11 4 5 (ACopy 1) false;
   Step 11 5 7 AErase true;
   Step 12 7 7 AVoid true;
   Step 0 7 9 (AProg 1) false;
   Step 0 9 11 (AProg 1) true;
   Step 2 11 13 ARead false;
   Step 2 13 15 ARead false;
   Step 2 15 17 (AProg 1) false;
   Step 2 17 17 (APick 1) false;
   Step 2 17 18 (ACopy 1) false;
   Step 2 18 20 AErase false;
   Step 2 20 22 (AProg 1) false;
   Step 2 22 22 AVoid false;
   Step 2 22 24 (AProg 1) false;
   Step 6 24 26 ARead false;
   Step 6 26 28 ARead true;
   Step 2 28 28 (APick 1) false;
   Step 2 28 29 (ACopy 1) false;
   Step 2 29 31 AErase false;
   Step 2 31 33 (AProg 1) false;
   Step 2 33 33 AVoid true;
   Step 3 33 35 (AProg 1) false;
   Step 13 35 35 (APick 1) false;
   Step 13 35 36 (ACopy 1) false;
   Step 13 36 38 AErase true;
   Step 14 38 38 (APick 1) false;
   Step 14 38 39 (ACopy 1) false;
   Step 14 39 41 AErase true;
   Step 7 41 43 (AProg 1) false;
   Step 7 43 45 (AProg 1) true;
   Step 3 45 45 AVoid true;
   Step 4 45 47 (AProg 1) false;
   Step 4 47 47 AVoid true;
   Step 5 47 49 ARead false;
   Step 5 49 50 (AProg 1) false;
   Step 5 50 50 (APick 1) false;
   Step 5 50 51 (ACopy 1) false;
   Step 5 51 53 AErase false;
   Step 5 53 55 (AProg 1) false;
   Step 5 55 55 AVoid false;
   Step 5 55 56 (AProg 1) false;
   Step 5 56 56 (APick 1) false;
   Step 5 56 57 (ACopy 1) false;
   Step 8 57 59 ARead false;
   Step 8 59 60 ARead true;
   Step 5 60 61 AErase true;
   Step 15 68 68 (APick 1) false;
   Step 15 68 69 (ACopy 1) false;
   Step 15 69 71 AErase true;
   Step 16 71 71 AVoid true;
   Step 9 71 73 (AProg 1) false;
   Step 9 73 75 (AProg 1) true;
   Step 10 80 82 ARead false;
   Step 10 82 84 ARead true]
  7 84.
Definition served_blocks (k : nat) : list block :=
  match k with
  | 2 => [Block Closed 0 1; Block Open 1 2; Block Closed 0 2; Block Closed 0 3; Block Closed 0 2;
      Block Closed 0 2; Block Closed 0 1; Block Closed 0 2; Block Erased 3 0; Block Erased 3 0]
  | 11 => [Block Closed 0 3; Block Closed 0 2; Block Closed 0 1; Block Closed 0 3; Block Closed 0
      1; Block Closed 0 2; Block Closed 0 1; Block Closed 0 2; Block Erased 3 0; Block Erased 3 0]
  | 19 => [Block Closed 0 2; Block Closed 0 2; Block Erased 3 0; Block Closed 0 3; Block Closed 0
      1; Block Closed 0 1; Block Closed 0 1; Block Closed 0 2; Block Erased 3 0; Block Closed 0 3]
  | 25 => [Block Closed 0 2; Block Closed 0 2; Block Erased 3 0; Block Closed 0 3; Block Erased 3
      0; Block Closed 0 1; Block Closed 0 1; Block Closed 0 2; Block Closed 0 2; Block Closed 0 2]
  | 28 => [Block Closed 0 2; Block Closed 0 2; Block Open 2 1; Block Closed 0 3; Block Erased 3 0;
      Block Erased 3 0; Block Closed 0 1; Block Closed 0 2; Block Closed 0 2; Block Closed 0 2]
  | 38 => [Block Closed 0 1; Block Closed 0 1; Block Closed 0 3; Block Closed 0 3; Block Closed 0
      2; Block Erased 3 0; Block Erased 3 0; Block Closed 0 2; Block Closed 0 1; Block Closed 0 2]
  | 44 => [Block Erased 3 0; Block Closed 0 1; Block Closed 0 3; Block Closed 0 2; Block Closed 0
      2; Block Erased 3 0; Block Closed 0 3; Block Closed 0 2; Block Closed 0 1; Block Closed 0 1]
  | 49 => [Block Open 2 1; Block Erased 3 0; Block Closed 0 3; Block Closed 0 2; Block Closed 0 2;
      Block Erased 3 0; Block Closed 0 3; Block Closed 0 2; Block Closed 0 1; Block Closed 0 1]
  | _ => []
  end%nat.

Definition background_processor : processor :=
  Processor [Request 3 22 17 0 1 3; Request 1 35 27 0 1 1]
    (Collection 12 2 4 2 0 2) 1 4 12 18 0 1 1 0 1 2 7 2
    false 0 0 [].
Definition background_trace : trace := Trace
  [Job 0 0 17 (Req 0) 3 3;
   Job 7 7 34 (Req 1) 1 1;
   Job 40 40 57 (Req 0) 3 3;
   Job 47 47 1060 Bg 2 1;
   Job 53 53 80 (Req 1) 1 1;
   Job 55 55 1060 Bg 1 1;
   Job 55 55 1060 Bg 2 1;
   Job 0 0 12 (Gc 1) 0 0;
   Job 7 7 19 (Gc 2) 0 0;
   Job 40 40 52 (Gc 3) 0 0;
   Job 53 53 65 (Gc 4) 0 0]
  [Step 7 0 0 (APick 1) false;
   Step 7 0 1 (ACopy 1) false;
   Step 7 1 3 AErase true;
   Step 0 3 4 (AProg 1) false;
   Step 0 4 5 (AProg 1) false;
   Step 0 5 6 (AProg 1) true;
   Step 8 7 7 (APick 0) false;
   Step 8 7 9 AErase true;
   Step 1 9 10 (AProg 1) true;
   Step 9 40 40 AVoid true;
   Step 2 40 41 (AProg 1) false;
   Step 2 41 42 (AProg 1) false;
   Step 2 42 43 (AProg 1) true;
   Step 3 47 49 ARead false;
   Step 3 49 51 ARead true;
   Step 10 53 53 (APick 1) false;
   Step 10 53 54 (ACopy 1) false;
   Step 10 54 56 AErase true;
   Step 4 56 57 (AProg 1) true;
   Step 6 57 59 (AProg 1) false;
   Step 6 59 61 (AProg 1) true]
  7 60.
Definition background_blocks (k : nat) : list block :=
  match k with
  | 0 => [Block Closed 0 1; Block Closed 0 2; Block Closed 0 1; Block Closed 0 1; Block Closed 0
      1; Block Closed 0 3; Block Closed 0 4; Block Erased 4 0; Block Closed 0 2; Block Closed 0 2;
      Block Closed 0 1; Block Open 3 0]
  | 6 => [Block Open 3 1; Block Closed 0 2; Block Closed 0 0; Block Closed 0 1; Block Closed 0 1;
      Block Closed 0 2; Block Closed 0 4; Block Erased 4 0; Block Closed 0 2; Block Closed 0 1;
      Block Closed 0 1; Block Closed 0 3]
  | 15 => [Block Closed 0 4; Block Closed 0 2; Block Erased 4 0; Block Closed 0 1; Block Closed 0
      1; Block Closed 0 1; Block Closed 0 2; Block Open 3 1; Block Closed 0 2; Block Closed 0 1;
      Block Closed 0 1; Block Closed 0 2]
  | _ => []
  end%nat.


Example stripe_parameters : parameters_ok stripe_processor.
Proof. parameters. Qed.
Example stripe_accepted :
  decide (p_rs stripe_processor) (p_g stripe_processor) = Accepted.
Proof. vm_compute. reflexivity. Qed.
Example stripe_obeys : obeys stripe_processor stripe_trace.
Proof. apply (obeysb_spec _ _ stripe_blocks). vm_compute. reflexivity. Qed.
Example stripe_promises : promises_kept stripe_processor stripe_trace.
Proof.
  apply accepted_is_in_time;
    [apply stripe_parameters|apply stripe_accepted|apply stripe_obeys].
Qed.

Example superblock_parameters : parameters_ok superblock_processor.
Proof. parameters. Qed.
Example superblock_accepted :
  decide (p_rs superblock_processor) (p_g superblock_processor) = Accepted.
Proof. vm_compute. reflexivity. Qed.
Example superblock_obeys : obeys superblock_processor superblock_trace.
Proof. apply (obeysb_spec _ _ superblock_blocks). vm_compute. reflexivity. Qed.
Example superblock_promises : promises_kept superblock_processor superblock_trace.
Proof.
  apply accepted_is_in_time;
    [apply superblock_parameters|apply superblock_accepted|apply superblock_obeys].
Qed.

Example served_parameters : parameters_ok served_processor.
Proof. parameters. Qed.
Example served_accepted :
  decide (p_rs served_processor) (p_g served_processor) = Accepted.
Proof. vm_compute. reflexivity. Qed.
Example served_obeys : obeys served_processor served_trace.
Proof. apply (obeysb_spec _ _ served_blocks). vm_compute. reflexivity. Qed.
Example served_promises : promises_kept served_processor served_trace.
Proof.
  apply accepted_is_in_time;
    [apply served_parameters|apply served_accepted|apply served_obeys].
Qed.

Example background_parameters : parameters_ok background_processor.
Proof. parameters. Qed.
Example background_accepted :
  decide (p_rs background_processor) (p_g background_processor) = Accepted.
Proof. vm_compute. reflexivity. Qed.
Example background_obeys : obeys background_processor background_trace.
Proof. apply (obeysb_spec _ _ background_blocks). vm_compute. reflexivity. Qed.
Example background_promises : promises_kept background_processor background_trace.
Proof.
  apply accepted_is_in_time;
    [apply background_parameters|apply background_accepted|apply background_obeys].
Qed.

(* What is in them: passes of both threads, copies, void jobs. *)
Definition acts (X : trace) (gc : bool) (p : action -> bool) : Z :=
  suml (fun s => ind (Bool.eqb gc (is_gc X (s_job s)) && p (s_act s))) (x_steps X).
Definition is_erase (a : action) : bool := match a with AErase => true | _ => false end.
Definition is_copy (a : action) : bool := match a with ACopy _ => true | _ => false end.
Example stripe_has : 1 <= acts stripe_trace true is_erase /\ 1 <= acts stripe_trace true is_void /\
  1 <= acts stripe_trace true is_copy.
Proof. vm_compute. repeat split; discriminate. Qed.
Example superblock_has : 1 <= acts superblock_trace true is_erase /\
  1 <= acts superblock_trace true is_void /\ 1 <= acts superblock_trace true is_copy.
Proof. vm_compute. repeat split; discriminate. Qed.
Example served_has : 1 <= acts served_trace true is_erase /\
  1 <= acts served_trace false is_erase /\ 1 <= acts served_trace false is_copy.
Proof. vm_compute. repeat split; discriminate. Qed.
