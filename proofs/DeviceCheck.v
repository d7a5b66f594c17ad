(* Whether a given device at work obeys the rules, by computation: what the example and the
   counterexamples of Theorem 3 rest on. Blocks and the round of the frontier are given with it. *)
From Coq Require Import ZArith List Lia Bool.
From Rtflash Require Import Sums Demand Victims Sporadic Bus Trace Check Reserve Costs Server Edf
  Closing Neighbours Device Frontier Theorem3 LastLength.
Import ListNotations.
Open Scope Z_scope.

Definition all (n : nat) (p : nat -> bool) : bool := forallb p (seq 0 n).
Lemma all_spec : forall n p, all n p = true -> forall k, (k < n)%nat -> p k = true.
Proof.
  intros n p H k Hk. unfold all in H. rewrite forallb_forall in H. apply H. apply in_seq. lia.
Qed.
Definition some (n : nat) (p : nat -> bool) : bool := existsb p (seq 0 n).
Lemma some_spec : forall n p, some n p = true -> exists k, (k < n)%nat /\ p k = true.
Proof.
  intros n p H. unfold some in H. apply existsb_exists in H. destruct H as [k [H1 H2]].
  apply in_seq in H1. exists k. split; [lia|assumption].
Qed.

Ltac bools :=
  repeat match goal with
  | H : _ && _ = true |- _ => apply andb_true_iff in H; destruct H
  | H : (_ <=? _) = true |- _ => apply Z.leb_le in H
  | H : (_ <? _) = true |- _ => apply Z.ltb_lt in H
  | H : (_ =? _) = true |- _ => apply Z.eqb_eq in H
  | H : Nat.ltb _ _ = true |- _ => apply Nat.ltb_lt in H
  | H : Nat.eqb _ _ = true |- _ => apply Nat.eqb_eq in H
  | H : negb _ = true |- _ => apply negb_true_iff in H
  end.

(* S3 on a channel, first come, first served. *)
Definition busb (t_d : Z) (h : channel) : bool :=
  let n := number_of h in
  all n (fun k =>
    (place_of h k <? ch_chips h) &&
    (asked_of h k <=? granted_of h k) && (granted_of h k <=? over_of h k) &&
    (over_of h k - granted_of h k <=? t_d) &&
    all n (fun l => negb (Nat.ltb k l) ||
      ((over_of h k <=? granted_of h l) && (asked_of h k <=? asked_of h l) &&
       (negb (place_of h k =? place_of h l) || (over_of h k <=? asked_of h l)))) &&
    all (Z.to_nat (granted_of h k - asked_of h k)) (fun i =>
      let t := asked_of h k + Z.of_nat i in
      some n (fun l => (granted_of h l <=? t) && (t <? over_of h l)))).

Lemma busb_spec : forall t_d h, busb t_d h = true -> S3_bus t_d h.
Proof.
  intros t_d h H. unfold busb in H.
  pose proof (all_spec _ _ H) as Hk. clear H.
  assert (Hpair : forall k l, (k < l)%nat -> (l < number_of h)%nat ->
    over_of h k <= granted_of h l /\ asked_of h k <= asked_of h l /\
    (place_of h k = place_of h l -> over_of h k <= asked_of h l)).
  { intros k l Hkl Hl. specialize (Hk k ltac:(lia)). cbv beta in Hk. bools.
    pose proof (all_spec _ _ H1 l Hl) as Hp. cbv beta in Hp. apply orb_true_iff in Hp.
    destruct Hp as [Hp|Hp]; bools; [apply Nat.ltb_ge in Hp; lia|].
    split; [assumption|]. split; [assumption|]. intros He.
    apply orb_true_iff in H6. destruct H6 as [H6|H6]; bools; [|assumption].
    apply Z.eqb_neq in H6. contradiction. }
  split.
  - constructor.
    + intros k Hlt. specialize (Hk k Hlt). cbv beta in Hk. bools. unfold place_of in *. lia.
    + intros k Hlt. specialize (Hk k Hlt). cbv beta in Hk. bools. lia.
    + intros k l Hkl Hl. apply (Hpair k l Hkl Hl).
    + intros k l Hkl Hl. apply (Hpair k l Hkl Hl).
    + intros k t Hlt Ht. specialize (Hk k Hlt). cbv beta in Hk. bools.
      pose proof (all_spec _ _ H0 (Z.to_nat (t - asked_of h k)) ltac:(lia)) as Hs. cbv beta in Hs.
      replace (asked_of h k + Z.of_nat (Z.to_nat (t - asked_of h k))) with t in Hs by lia.
      apply some_spec in Hs. destruct Hs as [l [Hl Hs]]. bools. exists l. split; [assumption|lia].
  - left. intros k l Hkl Hl. apply (Hpair k l Hkl Hl).
Qed.

Section Join.
  Variable d : device.
  Variable super : bool.
  Variable chips : list chip.
  Variable channels : list channel.
  Variable P : processor.
  Variable X : trace.

  Definition part_ofb (s : step) (t : transfer) : bool :=
    match s_act s with
    | ARead | AGcRead _ => (s_st s <=? tr_asked t) && (tr_asked t <=? s_st s + t_r d) &&
                         (tr_over t <=? s_en s)
    | AProg _ | ACopy _ => (tr_asked t =? s_st s) && (tr_over t <=? s_en s)
    | _ => false
    end.
  Definition ends_withb (s : step) (t : transfer) : bool :=
    match s_act s with
    | ARead | AGcRead _ => s_en s =? tr_over t
    | AProg _ | ACopy _ => s_en s <=? tr_over t + t_w d
    | _ => false
    end.
  Definition chan_ (h : nat) : channel := ch channels h.
  Definition of_step (h c k : nat) (s : step) : bool :=
    Nat.eqb (tr_place (tr (chan_ h) k)) c && (tr_start (tr (chan_ h) k) =? s_st s).

  Definition joinedb : bool :=
    forallb (fun s =>
      (negb (uses_bus super (s_act s)) ||
        existsb (fun p => some (number_of (chan_ (fst p))) (fun k =>
          of_step (fst p) (snd p) k s && part_ofb s (tr (chan_ (fst p)) k) &&
          ends_withb s (tr (chan_ (fst p)) k))) chips) &&
      (negb (takes_time (s_act s)) || uses_bus super (s_act s) ||
        (s_en s - s_st s <=? by_itself d (s_act s))) &&
      match j_class (jb X (s_job s)) with
      | Req i => if r_w (rq P i) =? 0 then is_read (s_act s) else is_prog (s_act s)
      | _ => true
      end &&
      (negb (is_read (s_act s)) ||
        forallb (fun p => all (number_of (chan_ (fst p))) (fun k =>
          negb (of_step (fst p) (snd p) k s) ||
          forallb (fun q => all (number_of (chan_ (fst q))) (fun l =>
            negb (of_step (fst q) (snd q) l s) ||
            (Nat.eqb (fst p) (fst q) && Nat.eqb (snd p) (snd q) && Nat.eqb k l))) chips)) chips))
      (x_steps X) &&
    forallb (fun p => all (number_of (chan_ (fst p))) (fun k =>
      negb (Nat.eqb (tr_place (tr (chan_ (fst p)) k)) (snd p)) ||
      (existsb (fun s => uses_bus super (s_act s) && of_step (fst p) (snd p) k s &&
         part_ofb s (tr (chan_ (fst p)) k)) (x_steps X) &&
       all (number_of (chan_ (fst p))) (fun l =>
         negb (Nat.eqb (tr_place (tr (chan_ (fst p)) l)) (snd p)) || Nat.eqb k l ||
         negb (tr_start (tr (chan_ (fst p)) k) =? tr_start (tr (chan_ (fst p)) l)))))) chips &&
    forallb (fun s => match s_act s with
      | AGcRead q => (0 <=? q) &&
          all (length channels) (fun h => chips_in_step chips channels s h <=? q)
      | _ => true
      end) (x_steps X).

  Lemma part_ofb_spec : forall s t, part_ofb s t = true -> part_of d s t.
  Proof.
    intros s t H. unfold part_ofb in H. unfold part_of. destruct (s_act s); try discriminate;
      bools; lia.
  Qed.

  Lemma of_step_spec : forall h c k s, of_step h c k s = true ->
    tr_place (tr (chan_ h) k) = c /\ tr_start (tr (chan_ h) k) = s_st s.
  Proof. intros h c k s H. unfold of_step in H. bools. auto. Qed.

  Lemma of_step_intro : forall h c k s, at_chip chips channels h c k ->
    tr_start (tr (chan_ h) k) = s_st s -> of_step h c k s = true.
  Proof.
    intros h c k s [_ [_ H]] He. unfold of_step. unfold chan_ in *. rewrite H, He, Nat.eqb_refl.
    simpl. apply Z.eqb_refl.
  Qed.

  Theorem joinedb_spec : joinedb = true -> joined d super chips channels P X.
  Proof.
    intros H. unfold joinedb in H. apply andb_true_iff in H. destruct H as [H Hg].
    rewrite forallb_forall in Hg. apply andb_true_iff in H. destruct H as [Hs Hc].
    rewrite forallb_forall in Hs. rewrite forallb_forall in Hc.
    assert (Htr : forall h c k, at_chip chips channels h c k ->
      existsb (fun s => uses_bus super (s_act s) && of_step h c k s &&
         part_ofb s (tr (chan_ h) k)) (x_steps X) = true /\
      forall l, (l < number_of (chan_ h))%nat -> tr_place (tr (chan_ h) l) = c ->
        tr_start (tr (chan_ h) k) = tr_start (tr (chan_ h) l) -> k = l).
    { intros h c k [Hin [Hk Hp]]. specialize (Hc (h, c) Hin). simpl in Hc.
      pose proof (all_spec _ _ Hc k Hk) as H1. cbv beta in H1. unfold chan_ in *.
      rewrite Hp, Nat.eqb_refl in H1. simpl in H1. apply andb_true_iff in H1.
      destruct H1 as [H1 H2]. split; [assumption|]. intros l Hl Hpl He.
      pose proof (all_spec _ _ H2 l Hl) as H3. cbv beta in H3.
      rewrite Hpl, Nat.eqb_refl, He, Z.eqb_refl in H3. simpl in H3. rewrite orb_false_r in H3.
      apply Nat.eqb_eq in H3. assumption. }
    constructor.
    - intros s Hin Hu. specialize (Hs s Hin). cbv beta in Hs. rewrite Hu in Hs. bools.
      simpl in H. apply existsb_exists in H. destruct H as [[h c] [Hp H]]. simpl in H.
      apply some_spec in H. destruct H as [k [Hk H]]. bools.
      destruct (of_step_spec _ _ _ _ H) as [E1 E2]. exists h, c, k.
      split; [split; [assumption|split; assumption]|]. split; [assumption|].
      split; [apply part_ofb_spec; assumption|].
      unfold ends_withb in H3. unfold ends_with. unfold chan_ in *.
      destruct (s_act s); try discriminate; bools; lia.
    - intros h c k Hat. destruct (Htr h c k Hat) as [H _]. apply existsb_exists in H.
      destruct H as [s [Hin H]]. bools. destruct (of_step_spec _ _ _ _ H1) as [E1 E2].
      exists s. split; [assumption|]. split; [assumption|]. split; [assumption|].
      apply part_ofb_spec. assumption.
    - intros h c k l Hk Hl He. destruct (Htr h c k Hk) as [_ H].
      apply H; [apply Hl|apply Hl|exact He].
    - intros h c k i b l s Hk Hl Hin Ha E1 E2. specialize (Hs s Hin). cbv beta in Hs. bools.
      rewrite Ha in H0. simpl in H0. rewrite forallb_forall in H0.
      specialize (H0 (h, c) (proj1 Hk)). simpl in H0.
      pose proof (all_spec _ _ H0 k (proj1 (proj2 Hk))) as H3. cbv beta in H3.
      rewrite (of_step_intro h c k s Hk E1) in H3. simpl in H3. rewrite forallb_forall in H3.
      specialize (H3 (i, b) (proj1 Hl)). simpl in H3.
      pose proof (all_spec _ _ H3 l (proj1 (proj2 Hl))) as H4. cbv beta in H4.
      rewrite (of_step_intro i b l s Hl E2) in H4. simpl in H4. bools. auto.
    - intros s q h Hin Ha. specialize (Hg s Hin). cbv beta in Hg. rewrite Ha in Hg.
      apply andb_true_iff in Hg. destruct Hg as [Hq Hg]. apply Z.leb_le in Hq.
      destruct (Nat.lt_ge_cases h (length channels)) as [Hh|Hh].
      + apply Z.leb_le. apply (all_spec _ _ Hg h Hh).
      + unfold chips_in_step, ch. rewrite nth_overflow by assumption. simpl. exact Hq.
    - intros s Hin Ht Hu. specialize (Hs s Hin). cbv beta in Hs. rewrite Ht, Hu in Hs. bools.
      simpl in H2. bools. assumption.
    - intros s i Hin Hcl. specialize (Hs s Hin). cbv beta in Hs. rewrite Hcl in Hs. bools.
      destruct (r_w (rq P i) =? 0); [|assumption].
      destruct (s_act s); try discriminate. reflexivity.
  Qed.

  (* The frontier goes round the chips, in their order, from the one with number `first`. *)
  Variable first : Z.
  Definition round (q : Z) : chip :=
    nth (Z.to_nat ((q + first) mod Z.of_nat (length chips))) chips (O, O).

  Definition distinctb : bool :=
    all (length chips) (fun i => all (length chips) (fun j =>
      Nat.eqb i j || negb (chip_eqb (nth i chips (O, O)) (nth j chips (O, O))))).

  Fixpoint rowsb (before : Z) (l : list step) : bool :=
    match l with
    | [] => true
    | s :: r =>
        (negb (is_program (s_act s)) ||
          forallb (fun p => all (number_of (chan_ (fst p))) (fun k =>
            negb (of_step (fst p) (snd p) k s) ||
            some (Z.to_nat (drawn s)) (fun i =>
              chip_eqb (round (before + Z.of_nat i)) p))) chips) &&
        rowsb (before + drawn s) r
    end.
  Definition frontierb : bool := distinctb && rowsb 0 (x_steps X).

  Lemma rowsb_spec : forall r before, rowsb before r = true ->
    forall l s r', r = l ++ s :: r' -> is_program (s_act s) = true ->
    forall h c k, at_chip chips channels h c k -> tr_start (tr (chan_ h) k) = s_st s ->
    exists q, before + programmed_before l <= q < before + programmed_before l + drawn s /\
      round q = (h, c).
  Proof.
    induction r as [|a r IH]; intros before Hb l s r' Hr Hpr h c k Hat He.
    - destruct l; discriminate.
    - simpl in Hb. apply andb_true_iff in Hb. destruct Hb as [H1 H2].
      destruct l as [|u l]; simpl in Hr; injection Hr as -> Hr.
      + rewrite Hpr in H1. simpl in H1. rewrite forallb_forall in H1.
        specialize (H1 (h, c) (proj1 Hat)). simpl in H1.
        pose proof (all_spec _ _ H1 k (proj1 (proj2 Hat))) as H3. cbv beta in H3.
        rewrite (of_step_intro h c k s Hat He) in H3. simpl in H3. apply some_spec in H3.
        destruct H3 as [i [Hi H3]]. apply chip_eqb_spec in H3.
        exists (before + Z.of_nat i). unfold programmed_before. simpl. split; [lia|assumption].
      + destruct (IH _ H2 l s r' Hr Hpr h c k Hat He) as [q [Hq1 Hq2]]. exists q.
        unfold programmed_before in *. simpl. split; [lia|assumption].
  Qed.

  Theorem frontierb_spec : frontierb = true -> frontier chips channels X.
  Proof.
    intros H. unfold frontierb in H. apply andb_true_iff in H. destruct H as [Hd Hr].
    exists round. split.
    - intros p q Hpq He. unfold round in He. set (s := Z.of_nat (length chips)) in *.
      assert (Hsl : s = Z.of_nat (length chips)) by reflexivity. clearbody s.
      assert (Hs : 0 < s) by lia. unfold distinctb in Hd.
      assert (Hn : forall v, (Z.to_nat ((v + first) mod s) < length chips)%nat).
      { intros v. pose proof (Z.mod_pos_bound (v + first) s Hs) as M. rewrite Hsl in M |- *.
        rewrite <- (Nat2Z.id (length chips)) at 2.
        apply Z2Nat.inj_lt; [apply M|apply Nat2Z.is_nonneg|apply M]. }
      pose proof (Z.mod_pos_bound (p + first) s Hs) as M1.
      pose proof (Z.mod_pos_bound (q + first) s Hs) as M2.
      pose proof (all_spec _ _ Hd _ (Hn p)) as H1. cbv beta in H1.
      pose proof (all_spec _ _ H1 _ (Hn q)) as H2.
      cbv beta in H2. rewrite He in H2. rewrite (proj2 (chip_eqb_spec _ _) eq_refl) in H2.
      simpl in H2. rewrite orb_false_r in H2. apply Nat.eqb_eq in H2.
      assert (Hm : (p + first) mod s = (q + first) mod s)
        by (apply Z2Nat.inj; [apply M1|apply M2|assumption]).
      pose proof (Z.div_mod (p + first) s ltac:(lia)) as D1.
      pose proof (Z.div_mod (q + first) s ltac:(lia)) as D2. rewrite Hm in D1.
      assert (Hq : q - p = s * ((q + first) / s - (p + first) / s)) by lia.
      set (e := (q + first) / s - (p + first) / s) in *. clearbody e. clear - Hq Hpq Hs.
      destruct (Z.le_gt_cases e 0); nia.
    - intros l s r h c k Hl Hpr Hat He.
      assert (Hp : is_program (s_act s) = true).
      { destruct Hpr as [Hpr|[m Hpr]]; [destruct (s_act s); try discriminate; reflexivity|].
        rewrite Hpr. reflexivity. }
      destruct (rowsb_spec _ _ Hr l s r Hl Hp h c k Hat He) as [q Hq]. exists q. exact Hq.
  Qed.
End Join.

(* What is stated of processors. *)
Definition demanded_okb (w : demanded) : bool :=
  (1 <=? w_pages w) && (0 <? w_T w) && (0 <=? w_J w) && (w_J w <? w_D w) && (w_D w <=? w_T w).
Definition stated_okb (e : stated) : bool :=
  (1 <=? e_Dg e) && (1 <=? e_alpha e) && (0 <=? e_v e) && (0 <=? e_us e) && (e_us e <=? 1000) &&
  (negb (e_server e) || (0 <? e_us e)) &&
  forallb (fun j => (0 <=? sv_a j) && (0 <=? sv_r j) && (0 <=? sv_w j)) (e_served e).
Definition certificate_okb (P : processor) : bool :=
  (g_alpha (p_g P) + p_v P <=? p_PP P) &&
  (within_deadline P + g_alpha (p_g P) + p_v P - 1 + server_reserve P <=? p_H P) &&
  (F_of P <? p_N P) && (p_Lam P / (p_N P - F_of P) <=? p_v P).

Section System.
  Variable Y : system.
  Variable blocks : nat -> nat -> list block.     (* of each processor, as in Check.v *)
  Variable first : nat -> Z.                      (* of each superblock's frontier *)

  Definition stated_wellb (m : member) : bool :=
    forallb demanded_okb (mb_rs m) && stated_okb (mb_e m) && (1 <=? mb_Pages m) &&
    (1 <=? mb_mc m) &&
    certificate_okb (proc Y m) &&
    forallb (fun p => chips_with_tasks Y (fst p) <=? mb_mc m) (mb_chips m) &&
    (if mb_super m then negb (Nat.eqb (length (mb_chips m)) 0) && (1 <=? mb_cr m)
     else Nat.eqb (length (mb_chips m)) 1) &&
    (negb (mb_super m) || forallb (fun p =>
      t_r (y_d Y) + t_d (y_d Y) * (1 + chips_of_others Y m (fst p)) <=? mb_cr m) (mb_chips m)).

  Lemma stated_wellb_spec : forall m, stated_wellb m = true -> stated_well Y m.
  Proof.
    intros m H. unfold stated_wellb in H. bools. constructor.
    - intros w Hw. rewrite forallb_forall in H. specialize (H w Hw). unfold demanded_okb in H.
      bools. unfold demanded_ok. lia.
    - unfold stated_okb in H6. bools. unfold stated_ok. split; [lia|]. split; [lia|].
      split; [lia|]. split; [lia|]. split.
      + intros Hs. rewrite Hs in H8. simpl in H8. bools. assumption.
      + intros j Hj. rewrite forallb_forall in H7. specialize (H7 j Hj). cbv beta in H7. bools. lia.
    - split; assumption.
    - unfold certificate_okb in H3. bools. unfold certificate_ok. auto.
    - intros h c Hc. rewrite forallb_forall in H2. specialize (H2 (h, c) Hc). simpl in H2. bools.
      assumption.
    - destruct (mb_super m).
      + bools. split; [|assumption]. intros E. rewrite E in H1. discriminate.
      + bools. destruct (mb_chips m) as [|[h c] [|]]; try discriminate. exists h, c. reflexivity.
    - intros Hs h c Hc. rewrite Hs in H0. simpl in H0. rewrite forallb_forall in H0.
      specialize (H0 (h, c) Hc). simpl in H0. bools. assumption.
  Qed.

  Definition member_at (i : nat) : member :=
    nth i (y_members Y) (Member false [] 1 1 [] (Stated 1 1 0 0 0 false []) false 1 1 0
      (Trace [] [] 0 0)).

  Definition device_obeysb : bool :=
    all (length (y_members Y)) (fun i => let m := member_at i in
      obeysb (proc Y m) (mb_X m) (blocks i) &&
      joinedb (dev Y m) (mb_super m) (mb_chips m) (y_channels Y) (proc Y m) (mb_X m) &&
      (negb (mb_super m) || frontierb (mb_chips m) (y_channels Y) (mb_X m) (first i)) &&
      (x_end (mb_X m) =? y_end Y) && stated_wellb m) &&
    forallb (busb (t_d (y_d Y))) (y_channels Y) &&
    all (length (y_channels Y)) (fun h => all (number_of (chan Y h)) (fun k =>
      owned Y h (tr_place (tr (chan Y h) k)))).

  Theorem device_obeysb_spec : device_obeysb = true ->
    device_obeys Y /\ forall m, In m (y_members Y) -> stated_well Y m.
  Proof.
    intros H. unfold device_obeysb in H. apply andb_true_iff in H. destruct H as [H Hown].
    apply andb_true_iff in H. destruct H as [Hm Hbus].
    assert (Hall : forall m, In m (y_members Y) -> exists i,
      obeysb (proc Y m) (mb_X m) (blocks i) = true /\
      joinedb (dev Y m) (mb_super m) (mb_chips m) (y_channels Y) (proc Y m) (mb_X m) = true /\
      (mb_super m = true -> frontierb (mb_chips m) (y_channels Y) (mb_X m) (first i) = true) /\
      x_end (mb_X m) = y_end Y /\ stated_wellb m = true).
    { intros m Hin. destruct (In_nth _ _ (member_at (length (y_members Y))) Hin) as [i [Hi He]].
      exists i. pose proof (all_spec _ _ Hm i Hi) as H1. cbv beta zeta in H1.
      assert (E : member_at i = m).
      { rewrite <- He. unfold member_at. apply nth_indep. assumption. }
      rewrite E in H1. clear E He. bools.
      split; [assumption|]. split; [assumption|]. split; [|split; assumption].
      intros Hs. rewrite Hs in H2. assumption. }
    split.
    - constructor.
      + intros m Hin. destruct (Hall m Hin) as [i [H1 _]]. apply untimed_of_obeys.
        apply (obeysb_spec _ _ (blocks i)). assumption.
      + intros m Hin. destruct (Hall m Hin) as [i [_ [H2 _]]]. apply joinedb_spec. assumption.
      + intros m Hin Hs. destruct (Hall m Hin) as [i [_ [_ [H3 _]]]].
        apply (frontierb_spec _ _ _ (first i)). apply H3. assumption.
      + intros h k Hk. destruct (Nat.lt_ge_cases h (length (y_channels Y))) as [Hh|Hh].
        * pose proof (all_spec _ _ Hown h Hh) as H1. cbv beta in H1.
          apply (all_spec _ _ H1 k Hk).
        * exfalso. unfold chan, ch in Hk. rewrite nth_overflow in Hk by lia.
          unfold number_of in Hk. simpl in Hk. lia.
      + intros h Hh. apply busb_spec. rewrite forallb_forall in Hbus. apply Hbus. assumption.
      + intros m Hin. destruct (Hall m Hin) as [i [_ [_ [_ [H4 _]]]]]. assumption.
    - intros m Hin. apply stated_wellb_spec. destruct (Hall m Hin) as [i H1]. apply H1.
  Qed.
End System.

(* (T') by computation, up to its last length. *)
Definition fits'b (d : device) (rs : list demanded) (g : collection) (chips : Z) (place : nat)
  (N : nat -> Z -> option Z) (L : Z) : bool :=
  1000 * (dbf' d rs g chips place N L + blocking (map (stripe_request d) rs) g L) <=? share g * L.

Definition passes_T'b (Y : system) (m : member) : bool :=
  match mb_super m, mb_chips m with
  | false, [(h, c)] =>
      let d := dev Y m in
      let g := p_g (proc Y m) in
      let n := ch_chips (chan Y h) in
      load_fits' (mb_rs m) d g n c (smaller Y h m) &&
      forallb (fun L =>
        negb (existsb (fun x => x <=? L) (deadlines (map (stripe_request d) (mb_rs m)) g)) ||
        fits'b d (mb_rs m) g n c (N_j Y h) L)
        (instants (last_length' (mb_rs m) d g n c (smaller Y h m)))
  | _, _ => false
  end.

Lemma passes_T'b_spec : forall Y m, device_ok (y_d Y) ->
  (forall j, In j (y_members Y) -> stated_well Y j) -> In m (y_members Y) ->
  passes_T'b Y m = true -> mb_super m = false /\ passes_T' Y m.
Proof.
  intros Y m Hd Hst Hm H. unfold passes_T'b in H.
  destruct (mb_super m) eqn:Es; [discriminate|]. split; [reflexivity|].
  destruct (mb_chips m) as [|[h c] [|]] eqn:Ec; try discriminate. apply andb_true_iff in H.
  destruct H as [Hu Hall]. apply (passes_T'_to_last_length Y Hd Hst m h c Hm Es Ec Hu).
  intros L [x [Hx HxL]] HL.
  assert (H0L : 0 <= L).
  { pose proof (requests_ok (mb_rs m) (sw_requests Y m (Hst m Hm)) (dev Y m) (dev_ok Y Hd Hst m Hm))
      as Hreq.
    pose proof (ok_collection _ (member_ok Y Hd Hst m Hm)) as Hg. unfold collection_ok in Hg.
    unfold deadlines in Hx. apply in_app_or in Hx. destruct Hx as [Hx|Hx].
    - apply in_map_iff in Hx. destruct Hx as [r [<- Hr]]. specialize (Hreq r Hr).
      unfold request_ok in Hreq. unfold window in HxL. lia.
    - destruct (writes (map (stripe_request (dev Y m)) (mb_rs m))); [destruct Hx as [Hx|[]]; lia|].
      contradiction. }
  rewrite forallb_forall in Hall. specialize (Hall L).
  assert (Hin : In L (instants (last_length' (mb_rs m) (dev Y m) (p_g (proc Y m))
    (ch_chips (chan Y h)) c (smaller Y h m)))).
  { unfold instants. apply in_map_iff. exists (Z.to_nat L). split; [lia|]. apply in_seq. lia. }
  specialize (Hall Hin). apply orb_true_iff in Hall. destruct Hall as [H0|H0].
  - apply negb_true_iff in H0.
    assert (E : existsb (fun x => x <=? L)
      (deadlines (map (stripe_request (dev Y m)) (mb_rs m)) (p_g (proc Y m))) = true).
    { apply existsb_exists. exists x. split; [assumption|]. apply Z.leb_le. assumption. }
    congruence.
  - unfold fits'b in H0. apply Z.leb_le in H0. assumption.
Qed.
