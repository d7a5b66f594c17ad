(* Whether a given trace obeys the rules of a chip with two page registers, by computation. *)
From Coq Require Import ZArith List Lia Bool.
From Rtflash Require Import Sums Demand Victims Sporadic Trace Check Closing Registers.
Import ListNotations.
Open Scope Z_scope.

Definition array_hasb (s : rstep) (t : Z) : bool := (array_from s <=? t) && (t <? array_until s).
Definition register_hasb (s : rstep) (t : Z) : bool :=
  (register_from s <=? t) && (t <? register_until s).

Definition array_idleb (l : list rstep) (t : Z) : bool := forallb (fun r => negb (array_hasb r t))
  l.
Definition register_emptyb (l : list rstep) (t : Z) : bool :=
  forallb (fun r => negb (register_hasb r t)) l.
Definition idle_or_programsb (l : list rstep) (t : Z) : bool :=
  forallb (fun r => is_prog (g_act r) || negb (array_hasb r t)) l.
Definition none_committedb (l : list rstep) (t : Z) : bool :=
  forallb (fun r => negb (is_prog (g_act r)) || negb (register_hasb r t)) l.

Definition may_beginb (k : kind) (l : list rstep) (t : Z) : bool :=
  match k with
  | KRead => array_idleb l t && none_committedb l t
  | KProg => register_emptyb l t && idle_or_programsb l t
  | KPass => array_idleb l t && register_emptyb l t
  end.

Lemma array_hasb_spec : forall s t, array_hasb s t = true <-> array_has s t.
Proof.
  intros s t. unfold array_hasb, array_has. rewrite andb_true_iff, Z.leb_le, Z.ltb_lt. lia.
Qed.

Lemma register_hasb_spec : forall s t, register_hasb s t = true <-> register_has s t.
Proof.
  intros s t. unfold register_hasb, register_has. rewrite andb_true_iff, Z.leb_le, Z.ltb_lt. lia.
Qed.

Lemma forallb_iff : forall {A : Type} (f : A -> bool) (p : A -> Prop) l,
  (forall x, f x = true <-> p x) -> (forallb f l = true <-> forall x, In x l -> p x).
Proof.
  intros A f p l H. rewrite forallb_forall. split; intros H1 x Hx; apply H; auto.
Qed.

Lemma array_idleb_spec : forall l t, array_idleb l t = true <-> array_idle l t.
Proof.
  intros l t. apply forallb_iff. intros r. rewrite <- array_hasb_spec.
  destruct (array_hasb r t); simpl; split; congruence.
Qed.

Lemma register_emptyb_spec : forall l t, register_emptyb l t = true <-> register_empty l t.
Proof.
  intros l t. apply forallb_iff. intros r. rewrite <- register_hasb_spec.
  destruct (register_hasb r t); simpl; split; congruence.
Qed.

Lemma may_beginb_spec : forall k l t, may_beginb k l t = true <-> may_begin k l t.
Proof.
  intros k l t.
  assert (H1 : idle_or_programsb l t = true <-> idle_or_programs l t).
  { apply forallb_iff. intros r. rewrite <- array_hasb_spec.
    destruct (is_prog (g_act r)); destruct (array_hasb r t); simpl; intuition congruence. }
  assert (H2 : none_committedb l t = true <-> none_committed l t).
  { apply forallb_iff. intros r. rewrite <- register_hasb_spec.
    destruct (is_prog (g_act r)); destruct (register_hasb r t); simpl; intuition congruence. }
  pose proof (array_idleb_spec l t). pose proof (register_emptyb_spec l t).
  unfold may_beginb, may_begin. destruct k; rewrite andb_true_iff; intuition.
Qed.

Section CheckRegisters.
  Variable d : device.
  Variable P : processor.
  Variable X : rtrace.
  Variable blocks : nat -> list block.

  Let n := length (v_jobs X).
  Notation jb := (vjb X).

  Definition waitingb (l : list rstep) (t : Z) (m : nat) : bool :=
    Nat.ltb m n && (j_rel (jb m) <=? t) && negb (begun l m).
  Definition beforeb (m k : nat) : bool :=
    (j_due (jb m) <? j_due (jb k)) || ((j_due (jb m) =? j_due (jb k)) && Nat.ltb m k).
  Definition first_jobb (l : list rstep) (t : Z) (m : nat) : bool :=
    waitingb l t m && forallb (fun k => negb (waitingb l t k) || Nat.eqb k m || beforeb m k) (seq
      0 n).

  Lemma waitingb_spec : forall l t m, waitingb l t m = true <-> waiting X l t m.
  Proof.
    intros l t m. unfold waitingb, waiting. rewrite !andb_true_iff, Nat.ltb_lt, Z.leb_le,
      negb_true_iff.
    unfold n. tauto.
  Qed.

  Lemma beforeb_spec : forall m k, beforeb m k = true <-> before X m k.
  Proof.
    intros m k. unfold beforeb, before. rewrite orb_true_iff, andb_true_iff, Z.ltb_lt, Z.eqb_eq,
      ?Nat.ltb_lt.
    intuition.
  Qed.

  Lemma first_jobb_spec : forall l t m, first_jobb l t m = true <-> first_job X l t m.
  Proof.
    intros l t m. unfold first_jobb, first_job. rewrite andb_true_iff, waitingb_spec.
    assert (H : forallb (fun k => negb (waitingb l t k) || Nat.eqb k m || beforeb m k) (seq 0 n) =
      true
      <-> forall k, waiting X l t k -> k = m \/ before X m k); [|tauto].
    rewrite forallb_forall. split; intros H k Hk.
    - assert (Hin : In k (seq 0 n)) by (apply in_seq; unfold n; destruct Hk; lia).
      specialize (H k Hin). apply waitingb_spec in Hk. rewrite Hk in H. simpl in H.
      apply orb_true_iff in H. destruct H as [H|H]; [left; apply Nat.eqb_eq; assumption|right].
      apply beforeb_spec. assumption.
    - destruct (waitingb l t k) eqn:E; [simpl|reflexivity].
      apply waitingb_spec in E. destruct (H k E) as [->|Hb]; [rewrite Nat.eqb_refl; reflexivity|].
      apply beforeb_spec in Hb. rewrite Hb. apply orb_true_r.
  Qed.

  Definition none_empty (empty : Z -> bool) (from upto : Z) : bool :=
    forallb (fun k => negb (empty (from + k))) (instants (upto - from)).

  Lemma none_empty_spec : forall empty from upto, none_empty empty from upto = true ->
    forall t, from <= t < upto -> empty t = false.
  Proof.
    intros empty from upto H t Ht. unfold none_empty in H. rewrite forallb_forall in H.
    specialize (H (t - from)). replace (from + (t - from)) with t in H by lia.
    apply negb_true_iff. apply H. unfold instants. apply in_map_iff. exists (Z.to_nat (t - from)).
    split; [lia|]. apply in_seq. lia.
  Qed.

  Definition X4_timesb (l : list rstep) (s : rstep) : bool :=
    match kind_of (g_act s) with
    | KRead =>
        within 1 (g_ready s - g_st s) (t_r d) && (g_ready s <=? g_move s) &&
        register_emptyb l (g_move s) && none_empty (register_emptyb l) (g_ready s) (g_move s) &&
        (1 <=? g_en s - g_move s)
    | KProg =>
        (1 <=? g_ready s - g_st s) && (g_ready s <=? g_move s) && array_idleb l (g_move s) &&
        none_empty (array_idleb l) (g_ready s) (g_move s) && within 1 (g_en s - g_move s) (t_w d)
    | KPass => true
    end.

  Definition kindb (a k : kind) : bool :=
    match a, k with KRead, KRead | KProg, KProg | KPass, KPass => true | _, _ => false end.

  Fixpoint rstepsb (l r : list rstep) : bool :=
    match r with
    | [] => true
    | s :: r' =>
        may_beginb (kind_of (g_act s)) l (g_st s) && first_jobb l (g_st s) (g_job s) &&
        X4_timesb l s && rstepsb (l ++ [s]) r'
    end.

  Definition beginsb : bool :=
    forallb (fun t =>
      let l := filter (fun s => g_st s <=? t) (v_steps X) in
      forallb (fun m => negb (first_jobb l t m) || negb (may_beginb (job_kind P X m) l t)) (seq 0
        n))
      (instants (v_end X)).

  Definition registersb : bool :=
    countedb P (counted_trace X) blocks &&
    forallb (fun m => real_time (counted_trace X) m) (seq 0 n) &&
    forallb (fun s => kindb (kind_of (g_act s)) (job_kind P X (g_job s))) (v_steps X) &&
    rstepsb [] (v_steps X) && beginsb &&
    forallb (fun s => kindb (kind_of (g_act s)) KPass || (moved s - asked s <=? bus d)) (v_steps X).

  Lemma rstepsb_spec : forall r l, rstepsb l r = true -> forall l1 s r1, r = l1 ++ s :: r1 ->
    may_begin (kind_of (g_act s)) (l ++ l1) (g_st s) /\
    first_job X (l ++ l1) (g_st s) (g_job s) /\ X4_times d (l ++ l1) s.
  Proof.
    induction r as [|a r IH]; intros l H l1 s r1 Hr; [destruct l1; discriminate|].
    simpl in H. apply andb_true_iff in H. destruct H as [H H2].
    apply andb_true_iff in H. destruct H as [H H3]. apply andb_true_iff in H. destruct H as [H H4].
    destruct l1 as [|y l1]; simpl in Hr; injection Hr as -> Hr.
    - rewrite app_nil_r. split; [apply may_beginb_spec; assumption|].
      split; [apply first_jobb_spec; assumption|].
      unfold X4_timesb in H3. unfold X4_times. unfold within in H3.
      destruct (kind_of (g_act s)); [| |exact I]; rewrite !andb_true_iff, !Z.leb_le in H3;
        destruct H3 as [[[[H5 H6] H7] H8] H9].
      + split; [lia|]. split; [assumption|]. split; [apply register_emptyb_spec; assumption|].
        split; [|lia]. intros t Ht Hc. apply register_emptyb_spec in Hc.
        rewrite (none_empty_spec _ _ _ H8 t Ht) in Hc. discriminate.
      + split; [lia|]. split; [assumption|]. split; [apply array_idleb_spec; assumption|].
        split; [|lia]. intros t Ht Hc. apply array_idleb_spec in Hc.
        rewrite (none_empty_spec _ _ _ H8 t Ht) in Hc. discriminate.
    - specialize (IH (l ++ [y]) H2 l1 s r1 Hr). rewrite <- app_assoc in IH. assumption.
  Qed.

  Lemma kindb_spec : forall a k, kindb a k = true -> a = k.
  Proof. intros [] []; simpl; congruence. Qed.

  Theorem registersb_spec : registersb = true -> obeys_registers d P X.
  Proof.
    unfold registersb. intros H. rewrite !andb_true_iff in H.
    destruct H as [[[[[H1 H2] H3] H4] H5] H6]. rewrite forallb_forall in H2, H3, H6.
    assert (H4s := fun l s r => rstepsb_spec (v_steps X) [] H4 l s r). simpl in H4s.
    constructor.
    - constructor.
      + apply (countedb_spec P _ blocks). assumption.
      + intros m Hm. apply H2. apply in_seq. unfold n. lia.
      + intros s Hs. apply kindb_spec. apply H3. assumption.
      + intros l s r Hs. apply (H4s l s r Hs).
      + intros l s r Hs. apply (H4s l s r Hs).
      + intros l r t m Hs Hl Hr Ht Hf Hb. unfold beginsb in H5. rewrite forallb_forall in H5.
        assert (Hin : In t (instants (v_end X))).
        { unfold instants. apply in_map_iff. exists (Z.to_nat t). split; [lia|]. apply in_seq. lia.
          }
        specialize (H5 t Hin). cbv zeta in H5.
        assert (Hfl : filter (fun s => g_st s <=? t) (v_steps X) = l).
        { rewrite Hs, filter_app.
          assert (E1 : filter (fun s => g_st s <=? t) l = l).
          { clear - Hl. induction l as [|a l IH]; [reflexivity|]. simpl.
            destruct (Z.leb_spec (g_st a) t) as [|Hc]; [|specialize (Hl a ltac:(left;
              reflexivity)); lia].
            rewrite IH; [reflexivity|]. intros s Hs. apply Hl. right. assumption. }
          assert (E2 : filter (fun s => g_st s <=? t) r = []).
          { clear - Hr. induction r as [|a r IH]; [reflexivity|]. simpl.
            destruct (Z.leb_spec (g_st a) t) as [Hc|]; [specialize (Hr a ltac:(left; reflexivity));
              lia|].
            apply IH. intros s Hs. apply Hr. right. assumption. }
          rewrite E1, E2. apply app_nil_r. }
        rewrite Hfl, forallb_forall in H5. specialize (H5 m).
        rewrite (proj2 (first_jobb_spec l t m) Hf), (proj2 (may_beginb_spec _ l t) Hb) in H5.
        assert (Hm : In m (seq 0 n)) by (apply in_seq; unfold n; destruct Hf as [[Hm _] _]; lia).
        specialize (H5 Hm). discriminate.
      + intros l s r Hs. apply (H4s l s r Hs).
    - intros s Hs Hk. specialize (H6 s Hs). apply orb_true_iff in H6. destruct H6 as [H6|H6].
      + apply kindb_spec in H6. contradiction.
      + apply Z.leb_le. assumption.
  Qed.
End CheckRegisters.

(* Whether (T2) holds, where nothing is known of the neighbours: length by length up to the last
   length of requests that pay 2b more a job; beyond it (T2) holds as (T) does for them. *)
Definition paying_request (d : device) (r : request) : request :=
  Request (r_C r * (if reading r then cost_r d else cost_w d) + 2 * bus d) (r_T r) (r_D r) (r_J r) 1
    (r_w r).
Definition paying_passes (d : device) (rs : list request) (g : collection) : collection :=
  Collection (g_D g) (g_alpha g) (g_C g + 2 * bus d) 0 0 (begun_before d rs).

Definition fits_aloneb (d : device) (rs : list request) (g : collection) (L : Z) : bool :=
  pages_read rs L * cost_r d + pages_written rs L * cost_w d +
  due_passes rs g L * g_C g + bus d * waits_K rs g L + begun_before d rs <=? L.

Definition accepted_alone (d : device) (rs : list request) (g : collection) : bool :=
  let rs' := map (paying_request d) rs in
  let g' := paying_passes d rs g in
  load_fits rs' g' &&
  forallb (fun L => negb (existsb (fun x => x <=? L) (deadlines rs g)) || fits_aloneb d rs g L)
    (instants (last_length rs' g')).

Section Accepted.
  Variable d : device.
  Variable rs : list request.
  Variable g : collection.
  Hypothesis dev : device_ok d.
  Hypothesis requests : forall r, In r rs -> request_ok r.
  Hypothesis gc : collection_ok g.

  Lemma paying_due_passes : forall L,
    due_passes (map (paying_request d) rs) (paying_passes d rs g) L = due_passes rs g L.
  Proof.
    intros L. unfold due_passes, arriving. simpl.
    assert (H : forall y, suml (fun r => ((y + r_J r) / r_T r + 1) * r_w r) (map (paying_request
      d) rs)
      = suml (fun r => ((y + r_J r) / r_T r + 1) * r_w r) rs).
    { intros y. clear. induction rs as [|r l IH]; [reflexivity|]. simpl map. rewrite !suml_cons, IH.
      reflexivity. }
    rewrite H. reflexivity.
  Qed.

  Lemma jobs_nonneg : forall L, 0 <= suml (fun r => due_jobs r L) rs /\ 0 <= due_passes rs g L /\
    0 <= pages_read rs L /\ 0 <= pages_written rs L.
  Proof.
    intros L. split; [apply suml_nonneg; intros r Hr; apply (due_jobs_nonneg rs requests);
      assumption|].
    split; [apply due_passes_nonneg; assumption|].
    split; apply suml_nonneg; intros r Hr; pose proof (due_jobs_nonneg rs requests r L Hr);
      pose proof (requests r Hr) as Hok; unfold request_ok in Hok; destruct (reading r); try lia;
      apply Z.mul_nonneg_nonneg; lia.
  Qed.

  Lemma waits_at_most : forall L, waits_K rs g L <= 2 * jobs_J rs g L /\
    jobs_J rs g L <= suml (fun r => due_jobs r L) rs + due_passes rs g L.
  Proof.
    intros L. pose proof (jobs_nonneg L). unfold waits_K, jobs_J. cbv zeta.
    destruct (writes rs); destruct (reads_any rs); lia.
  Qed.

  Lemma fits_of_paying : forall L, fits (map (paying_request d) rs) (paying_passes d rs g) L ->
    fits_alone d rs g L.
  Proof.
    intros L H. unfold fits, share, dbf in H. rewrite paying_due_passes in H.
    cbn [g_us g_C paying_passes] in H.
    assert (Hb : begun_before d rs <= blocking (map (paying_request d) rs) (paying_passes d rs g) L)
      by (unfold blocking; simpl; lia).
    assert (Hs : suml (fun r => due_jobs r L * r_C r) (map (paying_request d) rs)
      = pages_read rs L * cost_r d + pages_written rs L * cost_w d
        + 2 * bus d * suml (fun r => due_jobs r L) rs).
    { unfold pages_read, pages_written. clear. induction rs as [|r l IH]; [unfold suml; simpl;
        lia|].
      simpl map. rewrite !suml_cons, IH.
      change (due_jobs (paying_request d r) L) with (due_jobs r L).
      change (r_C (paying_request d r))
        with (r_C r * (if reading r then cost_r d else cost_w d) + 2 * bus d).
      destruct (reading r); ring. }
    rewrite Hs in H. unfold fits_alone.
    destruct (waits_at_most L) as [H1 H2].
    assert (H0 : 0 <= bus d) by (unfold device_ok in dev; unfold bus; apply Z.mul_nonneg_nonneg;
      lia).
    assert (bus d * waits_K rs g L <= bus d * (2 * (suml (fun r => due_jobs r L) rs + due_passes
      rs g L)))
      by (apply Z.mul_le_mono_nonneg_l; lia).
    lia.
  Qed.

  Lemma last_length_paying : forall L,
    load_fits (map (paying_request d) rs) (paying_passes d rs g) = true ->
    last_length (map (paying_request d) rs) (paying_passes d rs g) <= L ->
    fits (map (paying_request d) rs) (paying_passes d rs g) L.
  Proof.
    intros L Hload HL.
    assert (H0 : 0 <= bus d) by (unfold device_ok in dev; unfold bus; apply Z.mul_nonneg_nonneg;
      lia).
    apply last_length_suffices; [| |assumption|assumption].
    + intros r Hr. apply in_map_iff in Hr. destruct Hr as [q [<- Hq]].
      pose proof (requests q Hq) as Hok. unfold request_ok in *.
      cbn [r_C r_T r_D r_J r_q r_w paying_request].
      unfold device_ok in dev.
      assert (Hc : 1 <= (if reading q then cost_r d else cost_w d))
        by (unfold cost_r, cost_w; destruct (reading q); lia).
      assert (1 * 1 <= r_C q * (if reading q then cost_r d else cost_w d))
        by (apply Z.mul_le_mono_nonneg; lia).
      lia.
    + unfold collection_ok in *. cbn [g_D g_alpha g_q g_C g_us g_qs paying_passes].
      assert (0 <= begun_before d rs).
      { unfold device_ok in dev. unfold begun_before. cbv zeta.
        destruct (reads_any rs); destruct (writes rs); lia. }
      repeat split; lia.
  Qed.

  Theorem accepted_alone_spec : accepted_alone d rs g = true -> T2_alone d rs g.
  Proof.
    unfold accepted_alone. cbv zeta. intros H. apply andb_true_iff in H. destruct H as [H1 H2].
    intros L [y [Hy HL]].
    destruct (Z.le_gt_cases (last_length (map (paying_request d) rs) (paying_passes d rs g)) L) as
      [Hle|Hgt].
    - apply fits_of_paying. apply last_length_paying; assumption.
    - rewrite forallb_forall in H2. specialize (H2 L).
      assert (Hpos : 0 <= L).
      { assert (0 <= y); [|lia]. unfold deadlines in Hy. apply in_app_or in Hy.
        destruct Hy as [Hy|Hy].
        - apply in_map_iff in Hy. destruct Hy as [q [<- Hq]]. pose proof (requests q Hq) as Hok.
          unfold request_ok in Hok. unfold window. lia.
        - destruct (writes rs); [|contradiction]. destruct Hy as [<-|[]].
          unfold collection_ok in gc. lia. }
      assert (Hin : In L (instants (last_length (map (paying_request d) rs) (paying_passes d rs
        g)))).
      { unfold instants. apply in_map_iff. exists (Z.to_nat L). split; [lia|]. apply in_seq. lia. }
      specialize (H2 Hin). apply orb_true_iff in H2. destruct H2 as [H2|H2].
      + apply negb_true_iff in H2. exfalso.
        assert (existsb (fun x => x <=? L) (deadlines rs g) = true); [|congruence].
        apply existsb_exists. exists y. split; [assumption|apply Z.leb_le; assumption].
      + apply Z.leb_le in H2. assumption.
  Qed.
End Accepted.

Ltac stripe_parameters :=
  apply cached_stripe_ok;
  [unfold device_ok; simpl; lia
  |let w := fresh in let Hw := fresh in intros w Hw; simpl in Hw;
   repeat (destruct Hw as [<-|Hw]; [unfold demanded_ok; simpl; lia|]); contradiction
  |unfold stated_ok; simpl; repeat split; try lia; try discriminate; intros j []
  |lia
  |vm_compute; repeat split; try discriminate; try reflexivity].
