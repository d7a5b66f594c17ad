(* Not vacuous: a chip with two page registers that reads, writes, finds a job void, copies and
   erases; and two chips on a channel, one of which (T2) accepts only as it relies on the other. *)
From Coq Require Import ZArith List Lia Bool.
From Rtflash Require Import Sums Demand Victims Sporadic Bus Trace Check Reserve Closing Neighbours
  Registers CheckRegisters Stretches Cached Ranks Channel.
Import ListNotations.
Open Scope Z_scope.

Definition registers_device : device := Device 2 5 2 4 1.
Definition registers_processor : processor := cached_stripe registers_device
  [Demanded false 2 1025 44 0; Demanded true 2 39 34 0]
  (Stated 78 2 6 1 0 false []) 8 3 6.
(* The second page read is held by the first; each second page written is filled in while the array
   programs the first. *)
Definition registers_trace : rtrace := RTrace
  [Job 54 54 88 (Req 1) 2 2;
   Job 15 15 93 (Gc 1) 0 0;
   Job 54 54 132 (Gc 2) 0 0;
   Job 15 15 49 (Req 1) 2 2;
   Job 11 11 55 (Req 0) 0 2]
  [RStep 4 11 13 13 17 ARead false;
   RStep 4 13 15 17 21 ARead true;
   RStep 3 21 25 25 30 (AProg 1) false;
   RStep 3 25 29 30 35 (AProg 1) true;
   RStep 1 35 35 35 35 AVoid true;
   RStep 0 54 58 58 63 (AProg 1) false;
   RStep 0 58 62 63 68 (AProg 1) true;
   RStep 2 68 68 68 68 (APick 1) false;
   RStep 2 68 75 75 75 (ACopy 1) false;
   RStep 2 75 77 77 77 AErase true]
  8 80.
Definition registers_blocks (k : nat) : list block :=
  match k with
  | 7 => [Block Erased 3 0; Block Open 1 0; Block Closed 0 1; Block Closed 0 1; Block Closed 0 1;
      Block Closed 0 1; Block Closed 0 1; Block Closed 0 1]
  | _ => []
  end%nat.

Example registers_parameters :
  parameters_ok registers_processor /\ cached registers_device registers_processor.
Proof. stripe_parameters. Qed.
Example registers_accepted :
  accepted_alone registers_device (p_rs registers_processor) (p_g registers_processor) = true.
Proof. vm_compute. reflexivity. Qed.
Example registers_obeys : obeys_registers registers_device registers_processor registers_trace.
Proof. apply (registersb_spec _ _ _ registers_blocks). vm_compute. reflexivity. Qed.
Example registers_kept : registers_promises registers_processor registers_trace.
Proof.
  destruct registers_parameters as [ok shapes].
  assert (dev : device_ok registers_device) by (unfold device_ok; simpl; lia).
  apply (closing_registers registers_device); try assumption; [apply registers_obeys|].
  apply accepted_alone_spec;
    [assumption|apply (ok_requests _ ok)|apply (ok_collection _ ok)|apply registers_accepted].
Qed.

(* R1 is R2 that relies on nobody. *)
Lemma alone_is_ranked : forall d rs g L, device_ok d -> fits_alone d rs g L ->
  fits_ranked d rs g (m_c d - 1) [] L.
Proof.
  intros d rs g L dev H. unfold fits_alone, cost_r in H. unfold fits_ranked, W4. simpl length.
  cbn [sumn].
  unfold hold_over. replace (m_c d - 1 + 1) with (m_c d) by ring.
  change (m_c d * t_d d) with (bus d).
  replace (t_r d + Z.max 0 (bus d - t_r d)) with (Z.max (t_r d) (bus d)) by lia. lia.
Qed.

(* Whether (T2) holds for chip i, alone or relying on chip j, as `accepted_alone` has it. *)
Definition fits_pairb (d : device) (rs rs' : list request) (g : collection) (L : Z) : bool :=
  pages_read rs L * (t_r d + hold_over (t_d d) (t_r d) (m_c d - 1 - 1)) + pages_written rs L *
    cost_w d +
  due_passes rs g L * g_C g +
  W4 (t_d d) (t_r d) (m_c d - 1 - 1) (waits_K rs g L) (pages_read rs L)
    (fun l => nth l [pages_live rs' L] 0) 1 + begun_before d rs <=? L.

Definition accepted_pair (d : device) (rs rs' : list request) (g : collection) : bool :=
  load_fits (map (paying_request d) rs) (paying_passes d rs g) &&
  forallb (fun L => negb (existsb (fun x => x <=? L) (deadlines rs g)) || fits_pairb d rs rs' g L)
    (instants (last_length (map (paying_request d) rs) (paying_passes d rs g))).

Lemma accepted_pair_spec : forall d Pc cach i j, device_ok d -> 2 <= m_c d ->
  cach j = true -> i <> j -> parameters_ok (Pc i) ->
  accepted_pair d (p_rs (Pc i)) (p_rs (Pc j)) (p_g (Pc i)) = true -> T2_ranked d Pc cach i.
Proof.
  intros d Pc cach i j dev Hm Hj Hij ok H.
  pose proof (ok_requests _ ok) as Hr. pose proof (ok_collection _ ok) as Hg.
  unfold accepted_pair in H. apply andb_true_iff in H. destruct H as [H1 H2].
  intros L [y [Hy HL]].
  destruct (Z.le_gt_cases (last_length (map (paying_request d) (p_rs (Pc i)))
    (paying_passes d (p_rs (Pc i)) (p_g (Pc i)))) L) as [Hle|Hgt].
  - exists []. split; [constructor|]. split; [intros k []|]. simpl length. split; [simpl; lia|].
    replace (m_c d - 1 - Z.of_nat 0) with (m_c d - 1) by (simpl; lia).
    apply alone_is_ranked; [assumption|]. apply fits_of_paying; try assumption.
    apply (last_length_paying d); assumption.
  - exists [j]. split; [constructor; [intros []|constructor]|].
    split; [intros k [<-|[]]; auto|]. split; [simpl; lia|].
    rewrite forallb_forall in H2. specialize (H2 L).
    assert (Hpos : 0 <= L).
    { assert (0 <= y); [|lia]. unfold deadlines in Hy. apply in_app_or in Hy.
      destruct Hy as [Hy|Hy].
      - apply in_map_iff in Hy. destruct Hy as [q [<- Hq]]. pose proof (Hr q Hq) as Hok.
        unfold request_ok in Hok. unfold window. lia.
      - destruct (writes (p_rs (Pc i))); [|contradiction]. destruct Hy as [<-|[]].
        unfold collection_ok in Hg. lia. }
    assert (Hin : In L (instants (last_length (map (paying_request d) (p_rs (Pc i)))
      (paying_passes d (p_rs (Pc i)) (p_g (Pc i)))))).
    { unfold instants. apply in_map_iff. exists (Z.to_nat L). split; [lia|]. apply in_seq. lia. }
    specialize (H2 Hin). apply orb_true_iff in H2. destruct H2 as [H2|H2].
    + apply negb_true_iff in H2. exfalso.
      assert (existsb (fun x => x <=? L) (deadlines (p_rs (Pc i)) (p_g (Pc i))) = true);
        [|congruence].
      apply existsb_exists. exists y. split; [assumption|apply Z.leb_le; assumption].
    + apply Z.leb_le in H2. exact H2.
Qed.

(* Two chips on a channel: chip 0 reads two pages, chip 1 writes one, and has a
   pass. *)
Definition pair_device : device := Device 1 6 3 4 2.
Definition pair_processors (c : nat) : processor :=
  match c with
  | O => cached_stripe pair_device [Demanded false 2 1000 30 0] (Stated 1 1 1 1 0 false []) 3 2 1
  | _ => cached_stripe pair_device [Demanded true 1 1000 33 0] (Stated 200 1 6 1 0 false []) 8 6 8
  end.
Definition pair_traces (c : nat) : rtrace :=
  match c with
  | O => RTrace [Job 3 3 33 (Req 0) 0 2]
           [RStep 0 3 4 4 11 ARead false; RStep 0 4 5 11 15 ARead true] 1 40
  | _ => RTrace [Job 3 3 36 (Req 0) 1 1; Job 3 3 203 (Gc 1) 0 0]
           [RStep 0 3 7 7 13 (AProg 1) true; RStep 1 13 13 13 13 (APick 1) false;
            RStep 1 13 20 20 20 (ACopy 1) false; RStep 1 20 23 23 23 AErase true] 6 40
  end.
Definition pair_blocks (k : nat) : list block :=
  match k with
  | 1 => [Block Open 5 1; Block Closed 0 1; Block Closed 0 1; Block Closed 0 1; Block Closed 0 1;
      Block Closed 0 1; Block Closed 0 1; Block Closed 0 1]
  | _ => []
  end%nat.
Definition pair_cached (c : nat) : bool := Nat.ltb c 2.
(* Transfers by their grants: chip 1's page in, chip 0's two pages out. *)
Definition pair_chip (k : nat) : Z := match k with O => 1 | _ => 0 end.
Definition pair_asked (k : nat) : Z := match k with O => 3 | S O => 4 | _ => 11 end.
Definition pair_granted (k : nat) : Z := match k with O => 3 | S O => 7 | _ => 11 end.
Definition pair_over (k : nat) : Z := match k with O => 7 | S O => 11 | _ => 15 end.
Definition pair_transfer (c : nat) (s : rstep) : nat :=
  match c with O => if g_st s =? 3 then 1%nat else 2%nat | _ => O end.

Lemma pair_chips : forall c, pair_cached c = true -> c = O \/ c = 1%nat.
Proof. unfold pair_cached. intros c H. apply Nat.ltb_lt in H. lia. Qed.

Example pair_parameters : forall c, pair_cached c = true ->
  parameters_ok (pair_processors c) /\ cached pair_device (pair_processors c).
Proof. intros c H. destruct (pair_chips c H) as [-> | ->]; stripe_parameters. Qed.
(* By itself chip 0 is not accepted; relying on chip 1 it is. *)
Example pair_not_alone :
  accepted_alone pair_device (p_rs (pair_processors 0)) (p_g (pair_processors 0)) = false.
Proof. vm_compute. reflexivity. Qed.
Example pair_accepted : forall c, pair_cached c = true ->
  T2_ranked pair_device pair_processors pair_cached c.
Proof.
  intros c H. assert (dev : device_ok pair_device) by (unfold device_ok; simpl; lia).
  destruct (pair_chips c H) as [-> | ->].
  - apply (accepted_pair_spec _ _ _ 0 1); [assumption|simpl; lia|reflexivity|discriminate| |].
    + apply (pair_parameters 0). reflexivity.
    + vm_compute. reflexivity.
  - apply (accepted_pair_spec _ _ _ 1 0); [assumption|simpl; lia|reflexivity|discriminate| |].
    + apply (pair_parameters 1). reflexivity.
    + vm_compute. reflexivity.
Qed.
Example pair_obeys : forall c, pair_cached c = true ->
  obeys_registers pair_device (pair_processors c) (pair_traces c).
Proof.
  intros c H. destruct (pair_chips c H) as [-> | ->];
    apply (registersb_spec _ _ _ pair_blocks); vm_compute; reflexivity.
Qed.
Example pair_channel : on_channel pair_device pair_traces pair_cached 40
  3 pair_chip pair_asked pair_granted pair_over pair_transfer.
Proof.
  constructor.
  - constructor.
    + intros k _. destruct k; simpl; lia.
    + intros k _. destruct k as [|[|k]]; simpl; lia.
    + intros k l H1 H2. destruct l as [|[|[|l]]]; destruct k as [|[|k]]; simpl; lia.
    + intros k l H1 H2. destruct l as [|[|[|l]]]; destruct k as [|[|k]]; simpl; lia.
    + intros k t H1 H2. destruct k as [|[|[|k]]]; simpl in H2; try lia.
      exists 0%nat. simpl. lia.
  - left. intros k l H1 H2. destruct l as [|[|[|l]]]; destruct k as [|[|k]]; simpl; lia.
  - intros c H. destruct (pair_chips c H) as [-> | ->]; split; simpl; try reflexivity; lia.
  - intros c s H Hs Hu. destruct (pair_chips c H) as [-> | ->]; simpl in Hs;
      repeat (destruct Hs as [<-|Hs]; [first [exfalso; apply Hu; reflexivity
        |split; [simpl; lia|repeat split; reflexivity]]|]);
      contradiction.
  - intros c s r H Hs Hr Hu Hv. destruct (pair_chips c H) as [-> | ->]; simpl in Hs, Hr;
      repeat (destruct Hs as [<-|Hs];
        [repeat (destruct Hr as [<-|Hr]; [first [exfalso; apply Hu; reflexivity
          |exfalso; apply Hv; reflexivity|simpl; try reflexivity; discriminate]|]);
          contradiction|]);
      contradiction.
  - intros c l H Hl Hc. destruct (pair_chips c H) as [-> | ->].
    + destruct l as [|[|[|l]]]; simpl in Hc; try lia.
      * exists (RStep 0 3 4 4 11 ARead false). simpl. split; [auto|].
        split; [discriminate|reflexivity].
      * exists (RStep 0 4 5 11 15 ARead true). simpl. split; [auto|].
        split; [discriminate|reflexivity].
    + destruct l as [|l]; simpl in Hc; [|lia].
      exists (RStep 0 3 7 7 13 (AProg 1) true). simpl. split; [auto|].
      split; [discriminate|reflexivity].
Qed.
Example pair_kept : forall c, pair_cached c = true ->
  registers_promises (pair_processors c) (pair_traces c).
Proof.
  apply (theorem_5 pair_device pair_processors pair_traces pair_cached 40 3 pair_chip pair_asked
    pair_granted pair_over pair_transfer).
  - unfold device_ok. simpl. lia.
  - apply pair_parameters.
  - apply pair_accepted.
  - intros c H. apply (pair_obeys c H).
  - apply pair_channel.
Qed.
