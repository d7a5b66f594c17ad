(* Theorem 5, the schedule: what the array of a late chip does, and waits for, from x on. *)
From Coq Require Import ZArith List Lia Bool.
From Rtflash Require Import Sums Demand Victims Sporadic Trace Reserve Costs Edf Closing Registers.
Import ListNotations.
Open Scope Z_scope.

Lemma maxl_app : forall {A : Type} (f : A -> Z) l r, maxl f (l ++ r) = Z.max (maxl f l) (maxl f r).
Proof.
  induction l; simpl; intros r; [pose proof (maxl_nonneg f r); lia|]. rewrite IHl. lia.
Qed.

Lemma maxl_snoc : forall {A : Type} (f : A -> Z) l x, maxl f (l ++ [x]) = Z.max (maxl f l) (f x).
Proof.
  intros. rewrite maxl_app. simpl. pose proof (maxl_nonneg f l). lia.
Qed.

Lemma maxl_le : forall {A : Type} (f : A -> Z) l t, 0 <= t ->
  (forall x, In x l -> f x <= t) -> maxl f l <= t.
Proof.
  induction l; simpl; intros t H0 H; [lia|].
  assert (f a <= t) by auto. assert (maxl f l <= t) by auto. lia.
Qed.

Section Chip.
  Variable d : device.
  Variable P : processor.
  Variable X : rtrace.
  Hypothesis rules : obeys_registers d P X.

  Let n := length (v_jobs X).
  Notation steps := (v_steps X).
  Notation C := (counted_trace X).
  Notation b := (bus d).
  Notation jb := (vjb X).
  Notation kindj := (job_kind P X).
  Notation kinds s := (kind_of (g_act s)).

  Let cnt : counted P C := x_counted d P X rules.

  (* Steps begin in order. *)
  Lemma counted_split : forall l s r, steps = l ++ s :: r ->
    x_steps C = map counted_step l ++ counted_step s :: map counted_step r.
  Proof. intros l s r H. simpl. rewrite H, map_app. reflexivity. Qed.

  Lemma in_order : forall l s r, steps = l ++ s :: r ->
    0 <= g_st s /\ (kinds s = KPass -> g_st s <= g_en s) /\
    forall q, In q l -> g_st q <= g_st s /\ (kinds q <> KPass -> g_st q + 1 <= g_st s).
  Proof.
    intros l s r H. pose proof (step_order P C cnt _ _ _ (counted_split l s r H)) as [H1 [H2 _]].
    simpl in H1. split; [lia|]. split; [intros Hk; rewrite Hk in H1; lia|].
    intros q Hq.
    assert (Hin : In q steps) by (rewrite H; apply in_or_app; left; assumption).
    specialize (H2 (counted_step q) ltac:(apply in_map; assumption)). simpl in H2.
    apply in_split in Hin. destruct Hin as [l1 [r1 Hs]].
    pose proof (step_order P C cnt _ _ _ (counted_split l1 q r1 Hs)) as [H3 _]. simpl in H3.
    destruct (kinds q); split; intros; try lia; congruence.
  Qed.

  Lemma later : forall l s r q, steps = l ++ s :: r -> In q r -> g_st s <= g_st q.
  Proof.
    intros l s r q H Hq. apply in_split in Hq. destruct Hq as [r1 [r2 ->]].
    pose proof (in_order (l ++ s :: r1) q r2) as [_ [_ Ho]]; [rewrite H, <- app_assoc;
      reflexivity|].
    apply Ho. apply in_or_app. right. left. reflexivity.
  Qed.

  (* What is known of a step by itself. *)
  Definition shape (s : rstep) : Prop :=
    match kinds s with
    | KRead => g_st s + 1 <= g_ready s <= g_st s + t_r d /\ g_ready s <= g_move s /\
        g_move s + 1 <= g_en s <= g_move s + b /\
        array_from s = g_st s /\ array_until s = g_move s /\
        register_from s = g_move s /\ register_until s = g_en s /\ is_prog (g_act s) = false
    | KProg => g_st s + 1 <= g_ready s <= g_st s + b /\ g_ready s <= g_move s /\
        g_move s + 1 <= g_en s <= g_move s + t_w d /\
        array_from s = g_move s /\ array_until s = g_en s /\
        register_from s = g_st s /\ register_until s = g_move s /\ is_prog (g_act s) = true
    | KPass => g_st s <= g_en s /\ array_from s = g_st s /\ array_until s = g_en s /\
        register_from s = 0 /\ register_until s = 0 /\ is_prog (g_act s) = false
    end.

  Lemma shape_at : forall l s r, steps = l ++ s :: r -> shape s.
  Proof.
    intros l s r H. pose proof (X4 d P X rules l s r H) as H4. unfold X4_times in H4.
    pose proof (in_order l s r H) as [_ [Hp _]].
    assert (Hin : In s steps) by (rewrite H; apply in_or_app; right; left; reflexivity).
    pose proof (x_bus d P X rules s Hin) as Hb. unfold moved, asked in Hb.
    unfold shape, array_from, array_until, register_from, register_until.
    destruct (g_act s); simpl in *; try specialize (Hb ltac:(discriminate)); repeat split; auto;
      lia.
  Qed.

  Lemma shape_in : forall s, In s steps -> shape s.
  Proof.
    intros s H. apply in_split in H. destruct H as [l [r H]]. apply (shape_at l s r H).
  Qed.

  (* When the array is through with all of l, and the register with all of it. *)
  Definition array_free (l : list rstep) : Z := maxl array_until l.
  Definition register_free (l : list rstep) : Z := maxl register_until l.
  Notation E := array_free.
  Notation R := register_free.

  Lemma E_nonneg : forall l, 0 <= E l.
  Proof. intros. apply maxl_nonneg. Qed.
  Lemma R_nonneg : forall l, 0 <= R l.
  Proof. intros. apply maxl_nonneg. Qed.

  Lemma prefix_in : forall l r, steps = l ++ r -> forall q, In q l -> In q steps.
  Proof. intros l r H q Hq. rewrite H. apply in_or_app. left. assumption. Qed.

  Lemma at_most_E : forall l q, In q l -> array_until q <= E l.
  Proof. intros. apply (maxl_ge array_until). assumption. Qed.
  Lemma at_most_R : forall l q, In q l -> register_until q <= R l.
  Proof. intros. apply (maxl_ge register_until). assumption. Qed.

  Section Prefix.
    Variables l r : list rstep.
    Hypothesis split : steps = l ++ r.
    Variable t : Z.
    Hypothesis t_pos : 0 <= t.
    Hypothesis t_after : forall q, In q l -> g_st q <= t.

    Lemma read_may_begin : may_begin KRead l t <-> E l <= t.
    Proof.
      simpl. unfold array_idle, none_committed, array_has, register_has. split.
      - intros [H1 H2]. apply maxl_le; [assumption|]. intros q Hq.
        pose proof (shape_in q (prefix_in l r split q Hq)) as Hs. unfold shape in Hs.
        specialize (H1 q Hq). specialize (H2 q Hq). specialize (t_after q Hq).
        destruct (kinds q); destruct Hs as [? Hs]; [| |lia].
        + lia.
        + specialize (H2 ltac:(apply Hs)). lia.
      - intros H. split; intros q Hq; pose proof (at_most_E l q Hq) as He;
          pose proof (shape_in q (prefix_in l r split q Hq)) as Hs; unfold shape in Hs.
        + lia.
        + intros Hp. destruct (kinds q); [exfalso| |exfalso].
          * destruct Hs as [_ [_ [_ [_ [_ [_ [_ Hs]]]]]]]. congruence.
          * lia.
          * destruct Hs as [_ [_ [_ [_ [_ Hs]]]]]. congruence.
    Qed.

    Lemma pass_may_begin : may_begin KPass l t <-> E l <= t /\ R l <= t.
    Proof.
      simpl. unfold array_idle, register_empty, array_has, register_has. split.
      - intros [H1 H2]. split; apply maxl_le; try assumption; intros q Hq;
          pose proof (shape_in q (prefix_in l r split q Hq)) as Hs; unfold shape in Hs;
          specialize (H1 q Hq); specialize (H2 q Hq); specialize (t_after q Hq);
          destruct (kinds q); lia.
      - intros [H1 H2]. split; intros q Hq; pose proof (at_most_E l q Hq);
          pose proof (at_most_R l q Hq); lia.
    Qed.

    Lemma program_may_begin : may_begin KProg l t -> R l <= t.
    Proof.
      simpl. unfold register_empty, idle_or_programs, array_has, register_has. intros [H1 H2].
      apply maxl_le; [assumption|]. intros q Hq.
      pose proof (shape_in q (prefix_in l r split q Hq)) as Hs. unfold shape in Hs.
      specialize (H1 q Hq). specialize (H2 q Hq). specialize (t_after q Hq).
      destruct (kinds q); [specialize (H2 ltac:(apply Hs))| |]; lia.
    Qed.

    Lemma all_may_begin : forall k, E l <= t -> R l <= t -> may_begin k l t.
    Proof.
      intros k H1 H2. destruct k; [apply read_may_begin; assumption| |apply pass_may_begin; auto].
      simpl. unfold register_empty, idle_or_programs, array_has, register_has.
      split; intros q Hq; pose proof (at_most_E l q Hq); pose proof (at_most_R l q Hq); lia.
    Qed.
  End Prefix.

  Lemma snoc_split : forall l s r, steps = l ++ s :: r -> steps = (l ++ [s]) ++ r.
  Proof. intros. rewrite <- app_assoc. assumption. Qed.

  (* The state after a step. *)
  Lemma begins : forall l s r, steps = l ++ s :: r ->
    match kinds s with
    | KRead => E l <= g_st s
    | KProg => R l <= g_st s
    | KPass => E l <= g_st s /\ R l <= g_st s
    end.
  Proof.
    intros l s r H. pose proof (X1_X2_X3 d P X rules l s r H) as Hb.
    pose proof (in_order l s r H) as [H0 [_ Ho]].
    assert (Ha : forall q, In q l -> g_st q <= g_st s) by (intros q Hq; apply Ho; assumption).
    destruct (kinds s).
    - apply (read_may_begin l (s :: r) H (g_st s) H0 Ha). assumption.
    - apply (program_may_begin l (s :: r) H (g_st s) H0 Ha). assumption.
    - apply (pass_may_begin l (s :: r) H (g_st s) H0 Ha). assumption.
  Qed.

  Lemma after : forall l s r, steps = l ++ s :: r ->
    match kinds s with
    | KRead => g_move s <= Z.max (g_ready s) (R l) /\ E (l ++ [s]) = g_move s /\
        R (l ++ [s]) = g_en s
    | KProg => g_move s <= Z.max (g_ready s) (E l) /\ E (l ++ [s]) = g_en s /\
        R (l ++ [s]) = g_move s
    | KPass => E (l ++ [s]) = g_en s /\ R (l ++ [s]) = R l
    end.
  Proof.
    intros l s r H. pose proof (begins l s r H) as Hb. pose proof (shape_at l s r H) as Hs.
    pose proof (X4 d P X rules l s r H) as H4. pose proof (in_order l s r H) as [H0 [_ Ho]].
    unfold shape in Hs. unfold X4_times in H4. unfold E, R. rewrite !maxl_snoc.
    fold (E l) (R l). pose proof (E_nonneg l). pose proof (R_nonneg l).
    destruct (kinds s) eqn:Ek.
    - destruct H4 as [_ [_ [He [Hne _]]]]. unfold register_empty, register_has in *.
      assert (Hm : g_move s <= Z.max (g_ready s) (R l)).
      { destruct (Z.le_gt_cases (g_move s) (Z.max (g_ready s) (R l))) as [|Hgt];
          [assumption|exfalso].
        apply (Hne (Z.max (g_ready s) (R l)) ltac:(lia)). intros q Hq.
        pose proof (at_most_R l q Hq).
        lia. }
      assert (HR : R l <= g_move s).
      { apply maxl_le; [lia|]. intros q Hq. specialize (He q Hq). specialize (Ho q Hq).
        pose proof (at_most_E l q Hq).
        pose proof (shape_in q (prefix_in l (s :: r) H q Hq)) as Hq2. unfold shape in Hq2.
        destruct (kinds q); lia. }
      lia.
    - destruct H4 as [_ [_ [He [Hne _]]]]. unfold array_idle, array_has in *.
      assert (Hm : g_move s <= Z.max (g_ready s) (E l)).
      { destruct (Z.le_gt_cases (g_move s) (Z.max (g_ready s) (E l))) as [|Hgt];
          [assumption|exfalso].
        apply (Hne (Z.max (g_ready s) (E l)) ltac:(lia)). intros q Hq.
        pose proof (at_most_E l q Hq).
        lia. }
      assert (HE : E l <= g_move s).
      { apply maxl_le; [lia|]. intros q Hq. specialize (He q Hq). specialize (Ho q Hq).
        pose proof (at_most_R l q Hq).
        pose proof (shape_in q (prefix_in l (s :: r) H q Hq)) as Hq2. unfold shape in Hq2.
        destruct (kinds q); lia. }
      lia.
    - lia.
  Qed.

  (* After a program the next page may be committed when the register is empty. *)
  Lemma program_follows : forall l s r t, steps = l ++ s :: r -> kinds s = KProg ->
    g_st s <= t -> R (l ++ [s]) <= t -> may_begin KProg (l ++ [s]) t.
  Proof.
    intros l s r t H Hk Ht HR. simpl. unfold register_empty, idle_or_programs, array_has,
      register_has.
    pose proof (X1_X2_X3 d P X rules l s r H) as Hb. rewrite Hk in Hb. destruct Hb as [_ Hb].
    pose proof (in_order l s r H) as [H0 [_ Ho]]. unfold idle_or_programs, array_has in Hb.
    split; intros q Hq.
    - pose proof (at_most_R _ q Hq). lia.
    - intros Hp. apply in_app_or in Hq. destruct Hq as [Hq|[<-|[]]].
      + specialize (Hb q Hq Hp). specialize (Ho q Hq).
        pose proof (shape_in q (prefix_in l (s :: r) H q Hq)) as Hq2. unfold shape in Hq2.
        destruct (kinds q); [lia| |lia].
        destruct Hq2 as [? [? [? [? [? [? [? Hq2]]]]]]]. congruence.
      + destruct (g_act s); discriminate.
  Qed.

  (* The last step that has begun tells the state. *)
  Lemma state_of_last : forall l q r, steps = (l ++ [q]) ++ r ->
    match kinds q with
    | KRead => E (l ++ [q]) = g_move q /\ R (l ++ [q]) = g_en q
    | KProg => E (l ++ [q]) = g_en q /\ R (l ++ [q]) = g_move q
    | KPass => E (l ++ [q]) = g_en q /\ R (l ++ [q]) <= g_st q /\ g_st q <= g_en q
    end.
  Proof.
    intros l q r H. rewrite <- app_assoc in H. simpl in H.
    pose proof (after l q r H) as Ha. pose proof (begins l q r H) as Hb.
    pose proof (shape_at l q r H) as Hs. unfold shape in Hs.
    destruct (kinds q); [| |]; try tauto. lia.
  Qed.

  (* Unless a page is on its way out, the register is empty before the array is idle. *)
  Lemma register_before_array : forall l r, steps = l ++ r ->
    (forall l' q, l = l' ++ [q] -> kinds q <> KRead) -> R l <= E l.
  Proof.
    intros l r H Hl. destruct (exists_last_or_nil l) as [->|[l' [q ->]]]; [simpl; lia|].
    specialize (Hl l' q eq_refl). pose proof (state_of_last l' q r H) as Hs.
    pose proof (shape_in q ltac:(rewrite H; apply in_or_app; left; apply in_or_app; right; left;
      reflexivity)) as Hq. unfold shape in Hq.
    destruct (kinds q); [congruence| |]; lia.
  Qed.

  (* Who is first. *)
  Lemma first_of_waiting : forall l t k, waiting X l t k -> exists m, first_job X l t m.
  Proof.
    intros l t k Hk.
    assert (H : forall N, (forall k, (k < N)%nat -> ~ waiting X l t k) \/
      exists m, waiting X l t m /\ forall k, (k < N)%nat -> waiting X l t k -> k = m \/ before X m
        k).
    { induction N as [|N IH]; [left; lia|].
      assert (Hdec : waiting X l t N \/ ~ waiting X l t N).
      { unfold waiting. destruct (lt_dec N (length (v_jobs X))) as [|]; [|right; tauto].
        destruct (Z_le_gt_dec (j_rel (jb N)) t); [|right; lia].
        destruct (begun l N); [right; intros [_ [_ Hc]]; discriminate|left; auto]. }
      destruct Hdec as [HN|HN]; destruct IH as [Hno|[m [Hm1 Hm2]]].
      - right. exists N. split; [assumption|]. intros k1 Hk1 Hw.
        destruct (Nat.eq_dec k1 N); [left; assumption|]. destruct (Hno k1 ltac:(lia) Hw).
      - right. assert (Hc : before X m N \/ before X N m \/ m = N) by (unfold before; lia).
        destruct Hc as [Hc|[Hc| ->]].
        + exists m. split; [assumption|]. intros k1 Hk1 Hw.
          destruct (Nat.eq_dec k1 N) as [->|]; [right; assumption|apply Hm2; [lia|assumption]].
        + exists N. split; [assumption|]. intros k1 Hk1 Hw.
          destruct (Nat.eq_dec k1 N) as [->|]; [left; reflexivity|right].
          destruct (Hm2 k1 ltac:(lia) Hw) as [->|Hb]; [assumption|]. unfold before in *. lia.
        + exists N. split; [assumption|]. intros k1 Hk1 Hw.
          destruct (Nat.eq_dec k1 N); [left; assumption|apply Hm2; [lia|assumption]].
      - left. intros k1 Hk1 Hw. destruct (Nat.eq_dec k1 N) as [->|]; [contradiction|].
        apply (Hno k1 ltac:(lia) Hw).
      - right. exists m. split; [assumption|]. intros k1 Hk1 Hw.
        destruct (Nat.eq_dec k1 N) as [->|]; [contradiction|apply Hm2; [lia|assumption]]. }
    destruct (H (length (v_jobs X))) as [Hno|[m [Hm1 Hm2]]].
    - destruct (Hno k ltac:(apply Hk) Hk).
    - exists m. split; [assumption|]. intros k1 Hk1. apply Hm2; [apply Hk1|assumption].
  Qed.

  Lemma begun_app : forall l r m, begun (l ++ r) m = begun l m || begun r m.
  Proof. intros. unfold begun. apply existsb_app. Qed.

  Lemma begun_step : forall l m, begun l m = true <->
    exists s, In s l /\ g_job s = m /\ g_last s = true.
  Proof.
    intros l m. unfold begun. rewrite existsb_exists. split; intros [s H]; exists s.
    - destruct H as [H1 H2]. apply andb_true_iff in H2. destruct H2 as [H2 H3].
      apply Nat.eqb_eq in H2. auto.
    - destruct H as [H1 [H2 H3]]. rewrite H2, H3, Nat.eqb_refl. auto.
  Qed.

  Lemma kind_step : forall s, In s steps -> kinds s = kindj (g_job s).
  Proof. apply (x_kind d P X rules). Qed.

  (* The first job changes where one arrives, or where the last step of a job begins. *)
  Lemma stretch : forall l' q r t m, steps = (l' ++ [q]) ++ r -> g_st q <= t ->
    first_job X (l' ++ [q]) t m -> j_rel (jb m) <= g_st q -> m <> g_job q -> g_last q = true.
  Proof.
    intros l' q r t m H Ht [[Hm1 [Hm2 Hm3]] Hf] Hrel Hne.
    assert (H' : steps = l' ++ q :: r) by (rewrite H, <- app_assoc; reflexivity).
    destruct (X3_first d P X rules l' q r H') as [[Hq1 [Hq2 Hq3]] Hq].
    destruct (g_last q) eqn:El; [reflexivity|exfalso].
    rewrite begun_app in Hm3. apply orb_false_iff in Hm3. destruct Hm3 as [Hm3 _].
    assert (Hw1 : waiting X l' (g_st q) m) by (unfold waiting; auto).
    assert (Hw2 : waiting X (l' ++ [q]) t (g_job q)).
    { unfold waiting. split; [assumption|]. split; [lia|]. rewrite begun_app, Hq3. simpl.
      rewrite El, andb_false_r. reflexivity. }
    destruct (Hq m Hw1) as [|Hb1]; [contradiction|].
    destruct (Hf (g_job q) Hw2) as [Hc|Hb2]; [congruence|]. unfold before in *. lia.
  Qed.

  (* What is left of the steps before a step. *)
  Lemma register_before_read : forall l s r, steps = l ++ s :: r -> kinds s = KRead ->
    R l <= g_st s + b.
  Proof.
    intros l s r H Hk. pose proof (begins l s r H) as Hb. rewrite Hk in Hb.
    pose proof (shape_at l s r H) as Hs. unfold shape in Hs. rewrite Hk in Hs.
    destruct (exists_last_or_nil l) as [->|[l' [q ->]]].
    - pose proof (in_order [] s r H). simpl. lia.
    - pose proof (state_of_last l' q (s :: r) H) as Hq.
      pose proof (shape_in q ltac:(rewrite H; apply in_or_app; left; apply in_or_app; right; left;
        reflexivity)) as Hsq. unfold shape in Hsq.
      destruct (kinds q); lia.
  Qed.

  Lemma array_before_program : forall l s r, steps = l ++ s :: r -> kinds s = KProg ->
    E l <= g_st s + Z.max 0 (t_w d).
  Proof.
    intros l s r H Hk. pose proof (begins l s r H) as Hb. rewrite Hk in Hb.
    pose proof (X1_X2_X3 d P X rules l s r H) as Hm. rewrite Hk in Hm. destruct Hm as [_ Hm].
    unfold idle_or_programs, array_has in Hm. pose proof (in_order l s r H) as [H0 [_ Ho]].
    destruct (exists_last_or_nil l) as [->|[l' [q ->]]]; [simpl; lia|].
    pose proof (state_of_last l' q (s :: r) H) as Hq.
    assert (Hin : In q (l' ++ [q])) by (apply in_or_app; right; left; reflexivity).
    pose proof (shape_in q ltac:(rewrite H; apply in_or_app; left; assumption)) as Hsq.
    unfold shape in Hsq. specialize (Hm q Hin). specialize (Ho q Hin).
    destruct (kinds q); [lia|lia|]. destruct Hsq as [? [? [? [? [? Hp]]]]]. specialize (Hm Hp). lia.
  Qed.

  Definition isP (k : kind) : bool := match k with KProg => true | _ => false end.
  Definition isR (k : kind) : bool := match k with KRead => true | _ => false end.
  Definition notP (k : kind) : bool := negb (isP k).
  Definition notR (k : kind) : bool := negb (isR k).

  Lemma asked_shape : forall s, match kinds s with
    | KRead => asked s = g_move s /\ moved s = g_en s
    | KProg => asked s = g_st s /\ moved s = g_ready s
    | KPass => True end.
  Proof. intros s. unfold asked, moved. destruct (g_act s); simpl; auto. Qed.

  (* The window [x, z]: l0 has begun before x, w from x on. *)
  Section Window.
    Variables x z : Z.
    Variables l0 w rest : list rstep.
    Hypothesis dev : device_ok d.
    Hypothesis split0 : steps = l0 ++ w ++ rest.
    Hypothesis x_z : 0 <= x < z.
    Hypothesis z_end : z <= v_end X.
    Hypothesis l0_before : forall s, In s l0 -> g_st s < x.
    Hypothesis w_in : forall s, In s w -> x <= g_st s < z.

    (* Jobs released in [x, z] and due by z. *)
    Definition sel (m : nat) : bool := (x <=? j_rel (jb m)) && (j_due (jb m) <=? z).

    Hypothesis owned : forall s, In s w -> sel (g_job s) = true.
    Hypothesis started : forall k, (k < n)%nat -> j_rel (jb k) < x -> j_due (jb k) <= z ->
      begun l0 k = true.
    Hypothesis busy : forall w1 s w2 t, w = w1 ++ s :: w2 -> x <= t < g_st s ->
      (forall q, In q w1 -> g_st q <= t) ->
      exists k, waiting X (l0 ++ w1) t k /\ j_due (jb k) <= z.

    (* Whether the chip writes. *)
    Variable mixed : bool.
    Hypothesis mixed_known : forall m, (m < n)%nat -> kindj m <> KRead -> mixed = true.

    (* (63), but for what a chip that reads alone has there for the end. *)
    Variable B0 : Z.
    Hypothesis B0_positive : 1 <= B0.
    Hypothesis B0_read : forall s, In s l0 -> kinds s = KRead -> Z.max (t_r d) b <= B0.
    Hypothesis B0_prog : forall s, In s l0 -> kinds s = KProg -> Z.max (t_w d) b + t_w d <= B0.
    Hypothesis B0_pass : forall s, In s l0 -> kinds s = KPass -> g_en s - g_st s <= B0.

    (* The part of a transfer, with its wait, in the window. *)
    Definition part (s : rstep) : Z := Z.max 0 (Z.min (moved s) z - Z.max (asked s) x).

    (* What is charged: whole waits (a fill of the register, a drain), and of others what they are
       longer than t_r (a page of (i)). *)
    Definition amount (c : rstep * bool) : Z :=
      if snd c then part (fst c) else Z.max 0 (part (fst c) - t_r d).
    Definition fill (c : rstep * bool) : Z := ind (snd c && isP (kinds (fst c))).
    Definition drain (c : rstep * bool) : Z := ind (snd c && isR (kinds (fst c))).
    Definition hold (c : rstep * bool) : Z := ind (negb (snd c)).

    Definition base_of (s : rstep) : Z :=
      match kinds s with
      | KRead => t_r d | KProg => Z.max (t_w d) b | KPass => Z.min (g_en s) z - g_st s end.
    Definition base (w1 : list rstep) : Z := suml base_of w1.
    Definition number (f : kind -> bool) (w1 : list rstep) : Z :=
      suml (fun s => ind (f (kinds s))) w1.

    Definition arrived_in (w1 : list rstep) (m : nat) : bool :=
      existsb (fun s => j_rel (jb m) <=? g_st s) w1.
    (* Arrivals and ends that have been. *)
    Definition arr (f : kind -> bool) (w1 : list rstep) : Z :=
      countn (fun m => sel m && f (kindj m) && arrived_in w1 m) n.
    Definition ends (f : kind -> bool) (w1 : list rstep) : Z :=
      countn (fun m => sel m && f (kindj m) && begun w1 m) n.
    (* An end that nothing has used: the last step's. *)
    Definition unused (f : kind -> bool) (w1 : list rstep) : Z :=
      match rev w1 with [] => 0 | s :: _ => ind (g_last s && f (kinds s)) end.
    Definition last_read (l : list rstep) : Z :=
      match rev l with [] => 0 | s :: _ => ind (isR (kinds s)) end.

    Record books (w1 : list rstep) (ch : list (rstep * bool)) : Prop := {
      bk_nodup : NoDup (map fst ch);
      bk_in : forall c, In c ch -> In (fst c) (l0 ++ w1) /\ kinds (fst c) <> KPass /\
        (snd c = false -> kinds (fst c) = KRead);
      bk_last : forall l' q, l0 ++ w1 = l' ++ [q] -> kinds q = KRead -> ~ In q (map fst ch);
      bk_fills : suml fill ch + unused notP w1 <= arr isP w1 + ends notP w1;
      bk_fill_pages : suml fill ch <= number isP w1;
      bk_drains : suml drain ch + unused isR w1 <= arr notR w1 + ends isR w1;
      bk_drain_pages : suml drain ch + last_read (l0 ++ w1) <= number isR w1 + 1;
      bk_holds : suml hold ch <= number isR w1;
      bk_mixed : 0 < suml drain ch -> mixed = true
    }.

    Lemma unused_snoc : forall f w1 s, unused f (w1 ++ [s]) = ind (g_last s && f (kinds s)).
    Proof. intros. unfold unused. rewrite rev_app_distr. reflexivity. Qed.
    Lemma last_read_snoc : forall l s, last_read (l ++ [s]) = ind (isR (kinds s)).
    Proof. intros. unfold last_read. rewrite rev_app_distr. reflexivity. Qed.
    Lemma unused_nonneg : forall f w1, 0 <= unused f w1.
    Proof. intros. unfold unused, ind. destruct (rev w1); [lia|].
    destruct (g_last r && f (kinds r)); lia. Qed.
    Lemma last_read_range : forall l, 0 <= last_read l <= 1.
    Proof. intros. unfold last_read, ind. destruct (rev l); [lia|]. destruct (isR (kinds r)); lia.
    Qed.
    Lemma number_snoc : forall f w1 s, number f (w1 ++ [s]) = number f w1 + ind (f (kinds s)).
    Proof. intros. unfold number. rewrite suml_app. simpl. lia. Qed.
    Lemma base_snoc : forall w1 s, base (w1 ++ [s]) = base w1 + base_of s.
    Proof. intros. unfold base. rewrite suml_app. simpl. lia. Qed.
    Lemma ind_range : forall p, 0 <= ind p <= 1.
    Proof. intros []; unfold ind; lia. Qed.

    Lemma countn_more : forall N p q m, (forall k, (k < N)%nat -> p k = true -> q k = true) ->
      (m < N)%nat -> p m = false -> q m = true -> countn p N + 1 <= countn q N.
    Proof.
      intros N p q m H Hm Hp Hq. unfold countn.
      assert (sumn (fun k => ind (p k)) N < sumn (fun k => ind (q k)) N); [|lia].
      apply (sumn_lt N _ _ m); [|assumption|rewrite Hp, Hq; unfold ind; lia].
      intros k Hk. destruct (p k) eqn:E; [rewrite (H k Hk E); lia|destruct (q k); unfold ind; lia].
    Qed.

    Lemma arr_mono : forall f w1 s, arr f w1 <= arr f (w1 ++ [s]).
    Proof.
      intros f w1 s. apply countn_le. intros m _ H. unfold arrived_in in *. rewrite existsb_app.
      apply andb_true_iff in H. destruct H as [-> ->]. reflexivity.
    Qed.

    Lemma arr_more : forall f w1 s m, (m < n)%nat -> sel m = true -> f (kindj m) = true ->
      arrived_in w1 m = false -> j_rel (jb m) <= g_st s -> arr f w1 + 1 <= arr f (w1 ++ [s]).
    Proof.
      intros f w1 s m Hm Hs Hf Ha Hr. apply (countn_more n _ _ m).
      - intros k _ H. unfold arrived_in in *. rewrite existsb_app.
        apply andb_true_iff in H. destruct H as [-> ->]. reflexivity.
      - assumption.
      - rewrite Ha. apply andb_false_r.
      - rewrite Hs, Hf. unfold arrived_in. rewrite existsb_app. simpl.
        destruct (Z.leb_spec (j_rel (jb m)) (g_st s)); [|lia]. rewrite orb_true_r. reflexivity.
    Qed.

    Lemma w_split : forall w1 s w2, w = w1 ++ s :: w2 ->
      steps = (l0 ++ w1) ++ s :: (w2 ++ rest).
    Proof. intros w1 s w2 H. rewrite split0, H, <- !app_assoc. reflexivity. Qed.

    Lemma ends_step : forall f w1 s w2, w = w1 ++ s :: w2 ->
      ends f w1 + unused f (w1 ++ [s]) <= ends f (w1 ++ [s]).
    Proof.
      intros f w1 s w2 H. rewrite unused_snoc.
      assert (Hmono : forall k, (k < n)%nat -> sel k && f (kindj k) && begun w1 k = true ->
        sel k && f (kindj k) && begun (w1 ++ [s]) k = true).
      { intros k _ Hk. rewrite begun_app. apply andb_true_iff in Hk. destruct Hk as [-> ->].
        reflexivity. }
      destruct (g_last s && f (kinds s)) eqn:El; [|unfold ind; pose proof (countn_le n _ _ Hmono);
        unfold ends; lia].
      apply andb_true_iff in El. destruct El as [El Ef].
      pose proof (w_split w1 s w2 H) as Hs.
      destruct (X3_first d P X rules _ _ _ Hs) as [[Hm [_ Hb]] _].
      rewrite begun_app in Hb. apply orb_false_iff in Hb. destruct Hb as [_ Hb].
      assert (Hk : kinds s = kindj (g_job s)).
      { apply kind_step. rewrite Hs. apply in_or_app. right. left. reflexivity. }
      apply (countn_more n _ _ (g_job s) Hmono); [assumption|rewrite Hb; apply andb_false_r|].
      rewrite <- Hk, Ef, begun_app. simpl. rewrite El, Nat.eqb_refl.
      rewrite (owned s) by (rewrite H; apply in_or_app; right; left; reflexivity).
      simpl. rewrite orb_true_r. reflexivity.
    Qed.

    (* A wait is paid by a job that has arrived since the last step, or by the end of one. *)
    Definition paid (fa fe : kind -> bool) (w1 : list rstep) (s : rstep) : Prop :=
      (exists m, (m < n)%nat /\ sel m = true /\ fa (kindj m) = true /\ arrived_in w1 m = false /\
         j_rel (jb m) <= g_st s) \/ unused fe w1 = 1.

    Lemma first_selected : forall w1 t m k, first_job X (l0 ++ w1) t m ->
      waiting X (l0 ++ w1) t k -> j_due (jb k) <= z -> sel m = true.
    Proof.
      intros w1 t m k [[Hm1 [Hm2 Hm3]] Hf] Hk Hd.
      assert (Hdm : j_due (jb m) <= z).
      { destruct (Hf k Hk) as [->|Hb]; [assumption|]. unfold before in Hb. lia. }
      unfold sel. destruct (Z.leb_spec (j_due (jb m)) z); [|lia].
      destruct (Z.leb_spec x (j_rel (jb m))) as [|Hlt]; [reflexivity|exfalso].
      pose proof (started m Hm1 Hlt Hdm) as Hb. rewrite begun_app, Hb in Hm3. discriminate.
    Qed.

    Lemma payer : forall w1 r t m, steps = (l0 ++ w1) ++ r ->
      (forall q, In q w1 -> g_st q <= t) -> first_job X (l0 ++ w1) t m ->
      arrived_in w1 m = false \/
      exists w0 q, w1 = w0 ++ [q] /\ (m = g_job q \/ g_last q = true).
    Proof.
      intros w1 r t m Hs Ht Hf. destruct (arrived_in w1 m) eqn:Ea; [right|left; reflexivity].
      unfold arrived_in in Ea. apply existsb_exists in Ea. destruct Ea as [p [Hp Ha]].
      apply Z.leb_le in Ha.
      destruct (exists_last_or_nil w1) as [->|[w0 [q ->]]]; [contradiction|].
      exists w0, q. split; [reflexivity|].
      destruct (Nat.eq_dec m (g_job q)) as [|Hne]; [left; assumption|right].
      apply (stretch (l0 ++ w0) q r t m).
      - rewrite Hs, !app_assoc. reflexivity.
      - apply Ht. apply in_or_app. right. left. reflexivity.
      - rewrite <- app_assoc. assumption.
      - assert (g_st p <= g_st q); [|lia].
        apply in_app_or in Hp. destruct Hp as [Hp|[<-|[]]]; [|lia].
        assert (Hs2 : steps = (l0 ++ w0) ++ q :: r) by (rewrite Hs, <- !app_assoc; reflexivity).
        destruct (in_order _ _ _ Hs2) as [_ [_ Ho]]. apply Ho. apply in_or_app. right. assumption.
      - assumption.
    Qed.

    Lemma extend : forall w1 s w2 ch ol (os : bool), w = w1 ++ s :: w2 -> books w1 ch ->
      (forall q f, ol = Some (q, f) -> (exists l', l0 ++ w1 = l' ++ [q]) /\ kinds q = KRead /\
         if f : bool then paid notR isR w1 s /\ mixed = true
         else kinds s = KRead) ->
      (os = true -> kinds s = KProg /\ paid isP notP w1 s) ->
      books (w1 ++ [s])
        ((if os then [(s, true)] else []) ++ match ol with Some c => [c] | None => [] end ++ ch).
    Proof.
      intros w1 s w2 ch ol os Hw [N1 N2 N3 N4 N5 N6 N7 N8 N9] Hol Hos.
      pose proof (w_split w1 s w2 Hw) as Hs.
      destruct (in_order _ _ _ Hs) as [_ [_ Ho]].
      assert (Hnew : forall q, In q (l0 ++ w1) -> kinds q <> KPass -> q <> s).
      { intros q Hq Hk He. specialize (Ho q Hq). subst q. destruct Ho as [_ Ho].
        specialize (Ho Hk). lia. }
      assert (Hsin : ~ In s (map fst ch)).
      { intros Hi. apply in_map_iff in Hi. destruct Hi as [c [<- Hc]].
        destruct (N2 c Hc) as [H1 [H2 _]].
        apply (Hnew (fst c) H1 H2). reflexivity. }
      assert (Hq : forall q f, ol = Some (q, f) -> In q (l0 ++ w1) /\ ~ In q (map fst ch) /\ q <>
        s).
      { intros q f Ho2. destruct (Hol q f Ho2) as [[l' Hl'] [Hk _]].
        assert (Hi : In q (l0 ++ w1)) by (rewrite Hl'; apply in_or_app; right; left; reflexivity).
        split; [assumption|]. split; [apply (N3 l' q Hl' Hk)|]. apply (Hnew q Hi). congruence. }
      pose proof (ends_step notP w1 s w2 Hw) as He1. pose proof (ends_step isR w1 s w2 Hw) as He2.
      pose proof (arr_mono isP w1 s) as Ha1. pose proof (arr_mono notR w1 s) as Ha2.
      pose proof (unused_nonneg notP w1) as Hu1. pose proof (unused_nonneg isR w1) as Hu2.
      pose proof (unused_nonneg notP (w1 ++ [s])) as Hu3.
      pose proof (last_read_range (l0 ++ w1)) as Hlr.
      assert (Hlq : forall q f, ol = Some (q, f) -> last_read (l0 ++ w1) = 1).
      { intros q f Ho2. destruct (Hol q f Ho2) as [[l' ->] [Hk _]]. rewrite last_read_snoc, Hk.
        reflexivity. }
      assert (Hp1 : os = true ->
        suml fill ch + 1 + unused notP (w1 ++ [s]) <= arr isP (w1 ++ [s]) + ends notP (w1 ++ [s])).
      { intros Hos1. destruct (Hos Hos1) as [Hk Hp].
        assert (Hz : unused notP (w1 ++ [s]) = 0).
        { rewrite unused_snoc, Hk. simpl. rewrite andb_false_r. reflexivity. }
        destruct Hp as [[m [Hm1 [Hm2 [Hm3 [Hm4 Hm5]]]]]|Hp]; [|lia].
        pose proof (arr_more isP w1 s m Hm1 Hm2 Hm3 Hm4 Hm5). lia. }
      assert (Hp2 : forall q, ol = Some (q, true) ->
        suml drain ch + 1 + unused isR (w1 ++ [s]) <= arr notR (w1 ++ [s]) + ends isR (w1 ++ [s])).
      { intros q Ho2. destruct (Hol q true Ho2) as [_ [_ [Hp _]]].
        destruct Hp as [[m [Hm1 [Hm2 [Hm3 [Hm4 Hm5]]]]]|Hp]; [|lia].
        pose proof (arr_more notR w1 s m Hm1 Hm2 Hm3 Hm4 Hm5). lia. }
      pose proof (ind_range (isR (kinds s))) as Hi1. pose proof (ind_range (isP (kinds s))) as Hi2.
      assert (Hol2 : forall q f, ol = Some (q, f) -> kinds q = KRead) by (intros; eapply Hol;
        eauto).
      assert (Happ : l0 ++ w1 ++ [s] = (l0 ++ w1) ++ [s]) by apply app_assoc.
      set (OS := if os then [(s, true)] else []).
      set (OL := match ol with Some c => [c] | None => [] end).
      assert (Fos : suml fill OS = ind os).
      { unfold OS. destruct os; [|reflexivity]. destruct (Hos eq_refl) as [Hk _].
        unfold suml, fill; simpl. rewrite Hk. reflexivity. }
      assert (Dos : suml drain OS = 0).
      { unfold OS. destruct os; [|reflexivity]. destruct (Hos eq_refl) as [Hk _].
        unfold suml, drain; simpl. rewrite Hk. reflexivity. }
      assert (Eos : suml hold OS = 0) by (unfold OS; destruct os; reflexivity).
      assert (Fol : suml fill OL = 0).
      { unfold OL. destruct ol as [[q f]|]; [|reflexivity].
        unfold suml, fill; simpl. rewrite (Hol2 q f eq_refl). simpl. rewrite andb_false_r.
        reflexivity. }
      assert (Dol : suml drain OL = match ol with Some (_, true) => 1 | _ => 0 end).
      { unfold OL. destruct ol as [[q [|]]|]; try reflexivity.
        unfold suml, drain; simpl. rewrite (Hol2 q true eq_refl). reflexivity. }
      assert (Eol : suml hold OL = match ol with Some (_, false) => 1 | _ => 0 end).
      { unfold OL. destruct ol as [[q [|]]|]; reflexivity. }
      constructor.
      - (* each is charged once *)
        unfold OS, OL. destruct os; destruct ol as [[q f]|]; simpl; repeat constructor; auto.
        + simpl. intros [He|Hi]; [|contradiction]. subst q. destruct (Hq s f eq_refl); tauto.
        + apply (Hq q f eq_refl).
        + apply (Hq q f eq_refl).
      - intros c Hc. rewrite Happ. unfold OS, OL in Hc. apply in_app_or in Hc.
        destruct Hc as [Hc|Hc].
        { destruct os; [|contradiction]. destruct Hc as [<-|[]]. simpl.
          destruct (Hos eq_refl) as [Hk _]. split; [apply in_or_app; right; left; reflexivity|].
          split; [congruence|discriminate]. }
        apply in_app_or in Hc. destruct Hc as [Hc|Hc].
        { destruct ol as [[q f]|]; [|contradiction]. destruct Hc as [<-|[]]. simpl.
          destruct (Hq q f eq_refl) as [Hi _]. pose proof (Hol2 q f eq_refl) as Hk.
          split; [apply in_or_app; left; assumption|]. split; [congruence|auto]. }
        destruct (N2 c Hc) as [H1 H2]. split; [apply in_or_app; left; assumption|assumption].
      - intros l' q He Hk Hi. rewrite Happ in He. apply app_inj_tail in He. destruct He as [_ <-].
        unfold OS, OL in Hi. rewrite !map_app in Hi. apply in_app_or in Hi. destruct Hi as [Hi|Hi].
        { destruct os; [|contradiction]. destruct (Hos eq_refl). congruence. }
        apply in_app_or in Hi. destruct Hi as [Hi|Hi]; [|contradiction].
        destruct ol as [[q f]|]; [|contradiction]. destruct Hi as [Hi|[]]. simpl in Hi.
        destruct (Hq q f eq_refl) as [_ [_ Hne]]. contradiction.
      - rewrite !suml_app, Fol, Fos. change (ind true) with 1 in *.
        destruct os; [specialize (Hp1 eq_refl); change (ind true) with 1|change (ind false) with
          0]; lia.
      - rewrite !suml_app, number_snoc, Fol, Fos. destruct os; [|change (ind false) with 0; lia].
        destruct (Hos eq_refl) as [Hk _]. rewrite Hk. change (ind (isP KProg)) with 1.
        change (ind true) with 1. lia.
      - rewrite !suml_app, Dos, Dol. destruct ol as [[q [|]]|]; [specialize (Hp2 q eq_refl)| |];
          lia.
      - rewrite !suml_app, Happ, last_read_snoc, number_snoc, Dos, Dol.
        destruct ol as [[q [|]]|]; [specialize (Hlq q true eq_refl)| |]; lia.
      - rewrite !suml_app, number_snoc, Eos, Eol. destruct ol as [[q [|]]|]; [lia| |lia].
        destruct (Hol q false eq_refl) as [_ [_ Hk]]. rewrite Hk. change (ind (isR KRead)) with 1.
        lia.
      - rewrite !suml_app, Dos, Dol. destruct ol as [[q [|]]|].
        + intros _. apply (Hol q true eq_refl).
        + intros H. apply N9. lia.
        + intros H. apply N9. lia.
    Qed.

    Definition spent (w1 : list rstep) (ch : list (rstep * bool)) : Z :=
      x + B0 - 1 + base w1 + suml amount ch.

    (* The array is through with what has begun when what was charged is spent, or z is. *)
    Record account (w1 : list rstep) (ch : list (rstep * bool)) : Prop := {
      ac_books : books w1 ch;
      ac_array : Z.min (E (l0 ++ w1)) z <= spent w1 ch;
      ac_program : forall l' q, l0 ++ w1 = l' ++ [q] -> kinds q = KProg ->
        Z.min (g_move q) z <= spent w1 ch - t_w d
    }.

    Lemma amount_nonneg : forall ch, 0 <= suml amount ch.
    Proof.
      intros. apply suml_nonneg. intros c _. unfold amount, part. destruct (snd c); lia.
    Qed.

    Lemma base_nonneg : forall w1 w2, w = w1 ++ w2 -> 0 <= base w1.
    Proof.
      intros w1 w2 H. apply suml_nonneg. intros s Hs.
      assert (Hin : In s w) by (rewrite H; apply in_or_app; left; assumption).
      pose proof (w_in s Hin). unfold device_ok in dev. unfold base_of.
      assert (Hst : In s steps).
      { rewrite split0. apply in_or_app. right. apply in_or_app. left. assumption. }
      pose proof (shape_in s Hst) as Hsh. unfold shape in Hsh. destruct (kinds s); lia.
    Qed.

    Lemma spent_x : forall w1 w2 ch, w = w1 ++ w2 -> x <= spent w1 ch.
    Proof.
      intros w1 w2 ch H. pose proof (base_nonneg w1 w2 H). pose proof (amount_nonneg ch).
      unfold spent. lia.
    Qed.

    Lemma all_before : forall w1 w2 t, w = w1 ++ w2 -> x <= t -> (forall q,
      In q w1 -> g_st q <= t) ->
      forall q, In q (l0 ++ w1) -> g_st q <= t.
    Proof.
      intros w1 w2 t H Hx Hw q Hq. apply in_app_or in Hq. destruct Hq as [Hq|Hq]; [|auto].
      specialize (l0_before q Hq). lia.
    Qed.

    (* While somebody waits, nobody's step may begin; so at most until array and register are free.
    *)
    Lemma gap : forall w1 s w2 t, w = w1 ++ s :: w2 -> x <= t < g_st s ->
      (forall q, In q w1 -> g_st q <= t) ->
      exists m, first_job X (l0 ++ w1) t m /\ (m < n)%nat /\ sel m = true /\
        j_rel (jb m) <= t /\ ~ may_begin (kindj m) (l0 ++ w1) t.
    Proof.
      intros w1 s w2 t H Ht Hb. destruct (busy w1 s w2 t H Ht Hb) as [k [Hk Hd]].
      destruct (first_of_waiting (l0 ++ w1) t k Hk) as [m Hm]. exists m.
      split; [assumption|]. split; [apply Hm|]. split; [apply (first_selected w1 t m k Hm Hk Hd)|].
      split; [apply Hm|].
      pose proof (w_split w1 s w2 H) as Hs.
      apply (X3_begins d P X rules (l0 ++ w1) (s :: w2 ++ rest) t m Hs).
      - apply (all_before w1 (s :: w2) t H); [lia|assumption].
      - intros q [<-|Hq]; [lia|]. pose proof (later _ _ _ q Hs Hq). lia.
      - assert (Hin : In s w) by (rewrite H; apply in_or_app; right; left; reflexivity).
        pose proof (w_in s Hin). lia.
      - assumption.
    Qed.

    Lemma begun_by_free : forall w1 s w2, w = w1 ++ s :: w2 ->
      g_st s <= Z.max x (Z.max (E (l0 ++ w1)) (R (l0 ++ w1))).
    Proof.
      intros w1 s w2 H. set (t := Z.max x (Z.max (E (l0 ++ w1)) (R (l0 ++ w1)))).
      destruct (Z.le_gt_cases (g_st s) t) as [|Hgt]; [assumption|exfalso].
      pose proof (w_split w1 s w2 H) as Hs.
      assert (Hb : forall q, In q w1 -> g_st q <= t).
      { intros q Hq. assert (Hi : In q (l0 ++ w1)) by (apply in_or_app; right; assumption).
        pose proof (at_most_E _ q Hi).
        pose proof (shape_in q (prefix_in _ _ Hs q Hi)) as Hsh. unfold shape in Hsh.
        unfold t. destruct (kinds q); lia. }
      destruct (gap w1 s w2 t H ltac:(unfold t in *; lia) Hb) as [m [_ [_ [_ [_ Hn]]]]].
      apply Hn. apply (all_may_begin (l0 ++ w1) (s :: w2 ++ rest) Hs t);
        try (apply (all_before w1 (s :: w2) t H); [unfold t; lia|assumption]); unfold t; lia.
    Qed.

    (* A step that was first is paid by its arrival, or by the end of the one before. *)
    Lemma begun_paid : forall w1 s w2 fa fe, w = w1 ++ s :: w2 ->
      fa (kinds s) = true ->
      (forall w0 q, w1 = w0 ++ [q] -> kinds q <> kinds s /\ fe (kinds q) = true) ->
      paid fa fe w1 s.
    Proof.
      intros w1 s w2 fa fe H Hfa Hfe. pose proof (w_split w1 s w2 H) as Hs.
      pose proof (X3_first d P X rules _ _ _ Hs) as Hf.
      destruct (in_order _ _ _ Hs) as [_ [_ Ho]].
      assert (Hks : kinds s = kindj (g_job s)).
      { apply kind_step. rewrite Hs. apply in_or_app. right. left. reflexivity. }
      destruct (payer w1 (s :: w2 ++ rest) (g_st s) (g_job s) Hs) as [Ha|[w0 [q [Hw Hq]]]].
      - intros q Hq. apply Ho. apply in_or_app. right. assumption.
      - assumption.
      - left. exists (g_job s). split; [apply Hf|].
        split; [apply owned; rewrite H; apply in_or_app; right; left; reflexivity|].
        split; [rewrite <- Hks; assumption|]. split; [assumption|apply Hf].
      - right. destruct (Hfe w0 q Hw) as [Hne Hfq]. subst w1. rewrite unused_snoc, Hfq.
        destruct Hq as [Hq|Hq]; [exfalso|rewrite Hq; reflexivity].
        apply Hne. rewrite Hks, Hq. apply kind_step. rewrite Hs. apply in_or_app. left.
        apply in_or_app. right. apply in_or_app. right. left. reflexivity.
    Qed.

    Lemma last_in_window : forall w1 w0 (q : rstep) l', w1 = w0 ++ [q] -> l0 ++ w1 = l' ++ [q] ->
      l' = l0 ++ w0.
    Proof.
      intros w1 w0 q l' -> H. rewrite app_assoc in H. apply app_inj_tail in H. symmetry. apply H.
    Qed.

    Lemma account_step : forall w1 s w2 ch, w = w1 ++ s :: w2 -> account w1 ch ->
      exists ch', account (w1 ++ [s]) ch'.
    Proof.
      intros w1 s w2 ch H [AB AE AP].
      pose proof (w_split w1 s w2 H) as Hs.
      pose proof (begun_by_free w1 s w2 H) as Hfree.
      pose proof (begins _ _ _ Hs) as Hb. pose proof (after _ _ _ Hs) as Ha.
      pose proof (shape_at _ _ _ Hs) as Hsh. unfold shape in Hsh.
      pose proof (spent_x w1 (s :: w2) ch H) as Hx.
      pose proof (asked_shape s) as Has.
      assert (Hsin : In s w) by (rewrite H; apply in_or_app; right; left; reflexivity).
      pose proof (w_in s Hsin) as Hws. unfold device_ok in dev.
      assert (Hks : kinds s = kindj (g_job s)).
      { apply kind_step. rewrite Hs. apply in_or_app. right. left. reflexivity. }
      assert (Hjs : (g_job s < n)%nat) by (apply (X3_first d P X rules _ _ _ Hs)).
      set (l := l0 ++ w1) in *.
      assert (Happ : l0 ++ w1 ++ [s] = l ++ [s]) by apply app_assoc.
      assert (Hsp : forall OS OL, spent (w1 ++ [s]) (OS ++ OL ++ ch) =
        spent w1 ch + base_of s + suml amount OS + suml amount OL).
      { intros. unfold spent. rewrite base_snoc, !suml_app. lia. }
      assert (Hol0 : forall q f, @None (rstep * bool) = Some (q, f) ->
         (exists l', l = l' ++ [q]) /\ kinds q = KRead /\
         if f : bool then paid notR isR w1 s /\ mixed = true
         else kinds s = KRead) by discriminate.
      assert (Hos0 : false = true -> kinds s = KProg /\ paid isP notP w1 s) by discriminate.
      assert (Hprog : forall OS OL, kinds s <> KProg ->
        forall l' q, l0 ++ w1 ++ [s] = l' ++ [q] -> kinds q = KProg ->
        Z.min (g_move q) z <= spent (w1 ++ [s]) (OS ++ OL ++ ch) - t_w d).
      { intros OS OL Hk l' q He Hq. rewrite Happ in He. apply app_inj_tail in He.
        destruct He as [_ <-]. contradiction. }
      (* The last step before s: a read, or not. *)
      assert (Hlast : (exists l' q, l = l' ++ [q] /\ kinds q = KRead) \/
        (forall l' q, l = l' ++ [q] -> kinds q <> KRead)).
      { destruct (exists_last_or_nil l) as [->|[l' [q ->]]].
        - right. intros l' q He. destruct l'; discriminate.
        - destruct (kinds q) eqn:Eq; [left; exists l', q; auto| |];
            right; intros l2 q2 He; apply app_inj_tail in He; destruct He as [_ <-]; congruence. }
      destruct Hlast as [[l' [q [Hl Hkq]]]|Hnr].
      - (* behind a read *)
        assert (Hs' : steps = (l' ++ [q]) ++ s :: w2 ++ rest) by (rewrite Hs, Hl; reflexivity).
        pose proof (state_of_last l' q (s :: w2 ++ rest) Hs') as Hq. rewrite Hkq, <- Hl in Hq.
        destruct Hq as [HE HR]. pose proof (asked_shape q) as Haq. rewrite Hkq in Haq.
        destruct Haq as [Haq1 Haq2].
        assert (Hpq : part q = Z.max 0 (Z.min (R l) z - Z.max (E l) x)).
        { unfold part. rewrite Haq1, Haq2, HE, HR. reflexivity. }
        assert (Hlq : forall w0 q0, w1 = w0 ++ [q0] -> kinds q0 = KRead).
        { intros w0 q0 Hw0. unfold l in Hl. rewrite Hw0, app_assoc in Hl. apply app_inj_tail in Hl.
          destruct Hl as [_ ->]. assumption. }
        destruct (kinds s) eqn:Ek.
        + (* a read *)
          destruct (Z.le_gt_cases (g_st s) (Z.max x (E l))) as [Hd|Hi].
          * (* directly: (i) *)
            exists ((if false then [(s, true)] else []) ++ match Some (q, false) with
              Some c => [c] | None => [] end ++ ch).
            constructor; [apply (extend w1 s w2 ch (Some (q, false)) false H AB);
              [|discriminate]| |].
            -- intros q0 f He. injection He as <- <-. split; [exists l'; assumption|auto].
            -- rewrite Happ, Hsp. unfold base_of. rewrite Ek. simpl. unfold amount. simpl.
               rewrite Hpq. clear - AE Hx Hd Ha Hsh. lia.
            -- apply Hprog. congruence.
          * (* after a drain that this one broke off *)
            assert (Hbw : forall p, In p w1 -> g_st p <= Z.max x (E l)).
            { clear Hfree Ha Hb Hsh AE AP Hx Hpq Hws Hi Has. intros p Hp.
              assert (Hi2 : In p l) by (apply in_or_app; right; assumption).
              pose proof (at_most_E _ p Hi2).
              pose proof (shape_in p (prefix_in _ _ Hs p Hi2)) as Hshp. unfold shape in Hshp.
              destruct (kinds p); lia. }
            destruct (gap w1 s w2 (Z.max x (E l)) H ltac:(lia) Hbw) as [m [Hm1 [Hm2 [Hm3 [Hm4
              Hm5]]]]].
            assert (Hkm : kindj m <> KRead).
            { intros Hc. apply Hm5. rewrite Hc. apply (read_may_begin l (s :: w2 ++ rest) Hs);
                [lia| |].
              - apply (all_before w1 (s :: w2) _ H); [lia|assumption].
              - lia. }
            exists ((if false then [(s, true)] else []) ++ match Some (q, true) with
              Some c => [c] | None => [] end ++ ch).
            constructor; [apply (extend w1 s w2 ch (Some (q, true)) false H AB);
              [|discriminate]| |].
            -- intros q0 f He. injection He as <- <-. split; [exists l'; assumption|].
               split; [assumption|]. split; [|apply (mixed_known m); assumption].
               destruct (payer w1 (s :: w2 ++ rest) (Z.max x (E l)) m Hs Hbw Hm1) as [Ha2|[w0 [p
                 [Hw0 Hp]]]].
               ++ left. exists m. split; [assumption|]. split; [assumption|].
                  split; [|split; [assumption|lia]]. unfold notR.
                  destruct (kindj m); [congruence| |]; reflexivity.
               ++ right. pose proof (Hlq w0 p Hw0) as Hkp. rewrite Hw0, unused_snoc, Hkp.
                  destruct Hp as [Hp|Hp]; [exfalso|rewrite Hp; reflexivity].
                  apply Hkm. rewrite Hp, <- Hkp. symmetry. apply kind_step. rewrite Hs.
                  apply in_or_app. left. unfold l. rewrite Hw0. apply in_or_app. right.
                  apply in_or_app. right. left. reflexivity.
            -- rewrite Happ, Hsp. unfold base_of. rewrite Ek. simpl. unfold amount. simpl.
               rewrite Hpq. clear - AE Hx Hfree Hi Ha Hsh. lia.
            -- apply Hprog. congruence.
        + (* a program: (v) and (iv) *)
          exists ((if true then [(s, true)] else []) ++ match Some (q, true) with
            Some c => [c] | None => [] end ++ ch).
          assert (Hsum : Z.min (g_move s) z <=
            spent (w1 ++ [s]) ([(s, true)] ++ [(q, true)] ++ ch) - t_w d).
          { rewrite Hsp. unfold base_of. rewrite Ek. simpl. unfold amount. simpl.
            rewrite Hpq. unfold part. destruct Has as [-> ->].
            clear - AE Hx Hfree Ha Hsh Hws. lia. }
          constructor; [apply (extend w1 s w2 ch (Some (q, true)) true H AB)| |].
          * intros q0 f He. injection He as <- <-. split; [exists l'; assumption|].
            split; [assumption|]. split; [|apply (mixed_known (g_job s)); [assumption|congruence]].
            apply (begun_paid w1 s w2 notR isR H); [rewrite Ek; reflexivity|].
            intros w0 q0 Hw0. rewrite (Hlq w0 q0 Hw0), Ek. split; [discriminate|reflexivity].
          * intros _. split; [assumption|].
            apply (begun_paid w1 s w2 isP notP H); [rewrite Ek; reflexivity|].
            intros w0 q0 Hw0. rewrite (Hlq w0 q0 Hw0), Ek. split; [discriminate|reflexivity].
          * rewrite Happ. simpl in Hsum |- *. clear - Hsum Ha Hsh. lia.
          * intros l2 q2 He _. rewrite Happ in He. apply app_inj_tail in He. destruct He as [_ <-].
            exact Hsum.
        + (* a step of a pass: (v) *)
          exists ((if false then [(s, true)] else []) ++ match Some (q, true) with
            Some c => [c] | None => [] end ++ ch).
          constructor; [apply (extend w1 s w2 ch (Some (q, true)) false H AB); [|discriminate]| |].
          * intros q0 f He. injection He as <- <-. split; [exists l'; assumption|].
            split; [assumption|]. split; [|apply (mixed_known (g_job s)); [assumption|congruence]].
            apply (begun_paid w1 s w2 notR isR H); [rewrite Ek; reflexivity|].
            intros w0 q0 Hw0. rewrite (Hlq w0 q0 Hw0), Ek. split; [discriminate|reflexivity].
          * rewrite Happ, Hsp. unfold base_of. rewrite Ek. simpl. unfold amount. simpl.
            rewrite Hpq. clear - AE Hx Hfree Ha Hsh Hws. lia.
          * apply Hprog. congruence.
      - (* the register is empty before the array is idle *)
        pose proof (register_before_array l (s :: w2 ++ rest) Hs Hnr) as HRE.
        destruct (kinds s) eqn:Ek.
        + exists ((if false then [(s, true)] else []) ++ match @None (rstep * bool) with
            Some c => [c] | None => [] end ++ ch).
          constructor; [apply (extend w1 s w2 ch None false H AB); discriminate| |].
          * rewrite Happ, Hsp. unfold base_of. rewrite Ek. simpl. lia.
          * apply Hprog. congruence.
        + (* a program: directly behind another, (ii), or (iv) *)
          assert (Hcase : (exists l' q, l = l' ++ [q] /\ kinds q = KProg /\ g_st s <= R l) \/
            (paid isP notP w1 s)).
          { destruct (exists_last_or_nil l) as [Hnil|[l' [q Hl]]].
            - right. apply (begun_paid w1 s w2 isP notP H); [rewrite Ek; reflexivity|].
              intros w0 q0 Hw0. unfold l in Hnil. rewrite Hw0 in Hnil.
              destruct l0; destruct w0; discriminate.
            - destruct (kinds q) eqn:Eq.
              + destruct (Hnr l' q Hl Eq).
              + destruct (Z.le_gt_cases (g_st s) (R l)) as [Hle|Hgt];
                  [left; exists l', q; auto|right].
                assert (Hs' : steps = l' ++ q :: s :: w2 ++ rest).
                { rewrite Hs, Hl, <- app_assoc. reflexivity. }
                pose proof (state_of_last l' q (s :: w2 ++ rest) ltac:(rewrite Hs, Hl;
                  reflexivity)) as Hq.
                rewrite Eq, <- Hl in Hq. destruct Hq as [HE HR].
                pose proof (shape_at l' q (s :: w2 ++ rest) Hs') as Hshq. unfold shape in Hshq.
                rewrite Eq in Hshq.
                destruct (payer w1 (s :: w2 ++ rest) (g_st s) (g_job s) Hs) as [Ha2|[w0 [p [Hw0
                  _]]]].
                * intros p Hp. apply (in_order _ _ _ Hs). apply in_or_app. right. assumption.
                * apply (X3_first d P X rules _ _ _ Hs).
                * left. exists (g_job s). split; [assumption|]. split; [apply owned; assumption|].
                  split; [rewrite <- Hks; reflexivity|]. split; [assumption|].
                  apply (X3_first d P X rules _ _ _ Hs).
                * (* its job waits already: then another kind was first when the register was
                    empty *)
                  destruct (arrived_in w1 (g_job s)) eqn:Earr.
                  2:{ left. exists (g_job s). split; [assumption|].
                  split; [apply owned; assumption|].
                      split; [rewrite <- Hks; reflexivity|]. split; [assumption|].
                      apply (X3_first d P X rules _ _ _ Hs). }
                  exfalso.
                  assert (Hpq : p = q).
                  { unfold l in Hl. rewrite Hw0, app_assoc in Hl. apply app_inj_tail in Hl.
                    apply Hl. }
                  subst p.
                  assert (Hqw : In q w1) by (rewrite Hw0; apply in_or_app; right; left;
                    reflexivity).
                  assert (Hqx : x <= g_st q).
                  { apply w_in. rewrite H. apply in_or_app. left. assumption. }
                  assert (Hall : forall p, In p l -> g_st p <= g_st q).
                  { intros p Hp. rewrite Hl in Hp. apply in_app_or in Hp.
                    destruct Hp as [Hp|[<-|[]]]; [|lia].
                    apply (in_order l' q (s :: w2 ++ rest) Hs'). assumption. }
                  assert (Hbw : forall p, In p w1 -> g_st p <= R l).
                  { intros p Hp. specialize (Hall p ltac:(apply in_or_app; right; assumption)).
                    lia. }
                  destruct (gap w1 s w2 (R l) H ltac:(lia) Hbw) as [m [Hm1 [Hm2 [Hm3 [Hm4 Hm5]]]]].
                  fold l in Hm1, Hm5.
                  assert (Hkm : kindj m <> KProg).
                  { intros Hc. apply Hm5. rewrite Hc, Hl.
                    apply (program_follows l' q (s :: w2 ++ rest)); try assumption;
                      rewrite <- Hl; lia. }
                  destruct (X3_first d P X rules _ _ _ Hs) as [Hw1 Hf1].
                  destruct Hm1 as [Hwm Hfm].
                  assert (Hrs : j_rel (jb (g_job s)) <= R l).
                  { unfold arrived_in in Earr. apply existsb_exists in Earr.
                    destruct Earr as [p [Hp Hr]].
                    apply Z.leb_le in Hr. specialize (Hbw p Hp). lia. }
                  assert (Hws2 : waiting X l (R l) (g_job s)).
                  { destruct Hw1 as [? [? ?]]. unfold waiting. auto. }
                  assert (Hwm2 : waiting X l (g_st s) m).
                  { destruct Hwm as [? [? ?]]. unfold waiting. split; [assumption|].
                    split; [lia|assumption]. }
                  destruct (Hfm (g_job s) Hws2) as [Hc|Hb1]; [apply Hkm; rewrite <- Hc, <- Hks;
                    reflexivity|].
                  destruct (Hf1 m Hwm2) as [Hc|Hb2]; [apply Hkm; rewrite Hc, <- Hks; reflexivity|].
                  unfold before in *. lia.
              + right. apply (begun_paid w1 s w2 isP notP H); [rewrite Ek; reflexivity|].
                intros w0 q0 Hw0. rewrite Ek.
                assert (q0 = q).
                { unfold l in Hl. rewrite Hw0, app_assoc in Hl. apply app_inj_tail in Hl. apply Hl.
                  }
                subst q0. rewrite Eq. split; [discriminate|reflexivity]. }
          destruct Hcase as [[l' [q [Hl [Hkq Hdir]]]]|Hpaid].
          * exists ((if false then [(s, true)] else []) ++ match @None (rstep * bool) with
              Some c => [c] | None => [] end ++ ch).
            pose proof (AP l' q Hl Hkq) as HAP.
            pose proof (state_of_last l' q (s :: w2 ++ rest) ltac:(rewrite Hs, Hl;
              reflexivity)) as Hq.
            rewrite Hkq, <- Hl in Hq. destruct Hq as [HE HR].
            pose proof (shape_in q ltac:(rewrite Hs; apply in_or_app; left; rewrite Hl;
              apply in_or_app;
              right; left; reflexivity)) as Hshq. unfold shape in Hshq. rewrite Hkq in Hshq.
            assert (Hsum : Z.min (g_move s) z <= spent (w1 ++ [s]) ([] ++ [] ++ ch) - t_w d).
            { rewrite Hsp. unfold base_of. rewrite Ek. simpl. lia. }
            constructor; [apply (extend w1 s w2 ch None false H AB); discriminate| |].
            -- rewrite Happ. simpl in Hsum |- *. lia.
            -- intros l2 q2 He _. rewrite Happ in He. apply app_inj_tail in He.
               destruct He as [_ <-].
               exact Hsum.
          * exists ((if true then [(s, true)] else []) ++ match @None (rstep * bool) with
              Some c => [c] | None => [] end ++ ch).
            assert (Hsum : Z.min (g_move s) z <= spent (w1 ++ [s]) ([(s,
              true)] ++ [] ++ ch) - t_w d).
            { rewrite Hsp. unfold base_of. rewrite Ek. simpl. unfold amount. simpl.
              unfold part. destruct Has as [-> ->]. lia. }
            constructor; [apply (extend w1 s w2 ch None true H AB); [discriminate|auto]| |].
            -- rewrite Happ. simpl in Hsum |- *. lia.
            -- intros l2 q2 He _. rewrite Happ in He. apply app_inj_tail in He.
               destruct He as [_ <-].
               exact Hsum.
        + exists ((if false then [(s, true)] else []) ++ match @None (rstep * bool) with
            Some c => [c] | None => [] end ++ ch).
          constructor; [apply (extend w1 s w2 ch None false H AB); discriminate| |].
          * rewrite Happ, Hsp. unfold base_of. rewrite Ek. simpl. lia.
          * apply Hprog. congruence.
    Qed.

    Lemma account_start : account [] [].
    Proof.
      unfold device_ok in dev.
      assert (Hs0 : steps = l0 ++ w ++ rest) by assumption.
      constructor.
      - assert (Hz : forall f g, 0 <= arr f [] + ends g []).
        { intros f g. pose proof (countn_nonneg n (fun m => sel m && f (kindj m) && arrived_in []
            m)).
          pose proof (countn_nonneg n (fun m => sel m && g (kindj m) && begun [] m)).
          unfold arr, ends. lia. }
        pose proof (last_read_range (l0 ++ [])) as Hlr.
        constructor; [constructor|intros c []|intros l' q _ _ []|apply Hz|apply Z.le_refl|apply Hz
          | |apply Z.le_refl|intros Hc; exfalso; unfold suml in Hc; simpl in Hc; lia].
        change (last_read (l0 ++ []) <= 1). lia.
      - unfold spent, base. simpl. rewrite app_nil_r.
        destruct (exists_last_or_nil l0) as [E0|[l' [q E0]]]; [rewrite E0; unfold array_free;
          simpl; lia|].
        rewrite E0 in Hs0. pose proof (state_of_last l' q (w ++ rest) Hs0) as Hq.
        rewrite <- app_assoc in Hs0. simpl in Hs0.
        pose proof (after _ _ _ Hs0) as Ha. pose proof (shape_at _ _ _ Hs0) as Hsh.
        unfold shape in Hsh.
        assert (Hin : In q l0) by (rewrite E0; apply in_or_app; right; left; reflexivity).
        pose proof (l0_before q Hin). pose proof (B0_read q Hin). pose proof (B0_prog q Hin).
        pose proof (B0_pass q Hin). pose proof (register_before_read _ _ _ Hs0).
        pose proof (array_before_program _ _ _ Hs0). rewrite E0.
        destruct (kinds q) eqn:Ek; repeat match goal with H : ?a = ?a -> _ |- _ => specialize (H
          eq_refl) end.
        + lia.
        + lia.
        + lia.
      - intros l' q E0 Ek. unfold spent, base. simpl. rewrite app_nil_r in E0.
        rewrite E0 in Hs0. rewrite <- app_assoc in Hs0. simpl in Hs0.
        pose proof (after _ _ _ Hs0) as Ha. pose proof (shape_at _ _ _ Hs0) as Hsh.
        unfold shape in Hsh.
        assert (Hin : In q l0) by (rewrite E0; apply in_or_app; right; left; reflexivity).
        pose proof (l0_before q Hin). pose proof (B0_prog q Hin Ek).
        pose proof (array_before_program _ _ _ Hs0 Ek). rewrite Ek in *. lia.
    Qed.

    Lemma account_all : forall w1 w2, w = w1 ++ w2 -> exists ch, account w1 ch.
    Proof.
      induction w1 as [|s w1 IH] using rev_ind; intros w2 H; [exists []; apply account_start|].
      rewrite <- app_assoc in H. destruct (IH _ H) as [ch Hch].
      apply (account_step w1 s w2 ch H Hch).
    Qed.

    Lemma payers : forall fa fe, (forall k, fe k = negb (fa k)) ->
      arr fa w + ends fe w <= countn sel n.
    Proof.
      intros fa fe Hf. unfold arr, ends, countn. rewrite <- sumn_add. apply sumn_le. intros m _.
      rewrite Hf. destruct (sel m); destruct (fa (kindj m)); destruct (arrived_in w m);
        destruct (begun w m); unfold ind; simpl; lia.
    Qed.

    Lemma payers_more : forall fa fe m, (forall k, fe k = negb (fa k)) -> (m < n)%nat ->
      sel m = true -> fa (kindj m) = true -> arrived_in w m = false ->
      arr fa w + ends fe w + 1 <= countn sel n.
    Proof.
      intros fa fe m Hf Hm Hs Hk Ha. unfold arr, ends, countn. rewrite <- sumn_add.
      match goal with |- ?a + 1 <= ?c => assert (a < c); [|lia] end.
      apply (sumn_lt n _ _ m); [|assumption|].
      - intros k _. rewrite Hf. destruct (sel k); destruct (fa (kindj k));
          destruct (arrived_in w k);
          destruct (begun w k); unfold ind; simpl; lia.
      - rewrite Hf, Hs, Hk, Ha. unfold ind; simpl; lia.
    Qed.

    (* What [x, z) is covered by. *)
    Definition covered_by (ch : list (rstep * bool)) (tail : Z) : Prop :=
      NoDup (map fst ch) /\
      (forall c, In c ch -> In (fst c) (l0 ++ w) /\ kinds (fst c) <> KPass /\
         (snd c = false -> kinds (fst c) = KRead)) /\
      suml fill ch <= countn sel n /\ suml fill ch <= number isP w /\
      suml drain ch <= countn sel n /\ suml drain ch <= number isR w + 1 /\
      suml hold ch <= number isR w /\
      (0 < suml drain ch -> mixed = true) /\
      z <= x + B0 - 1 + base w + suml amount ch + tail /\
      (tail = 0 \/ (tail = b /\ mixed = false)).

    Lemma covered_plain : forall ch tail, account w ch -> z <= spent w ch + tail ->
      (tail = 0 \/ (tail = b /\ mixed = false)) -> covered_by ch tail.
    Proof.
      intros ch tail [[N1 N2 N3 N4 N5 N6 N7 N8 N9] _ _] Hz Ht.
      pose proof (payers isP notP ltac:(reflexivity)). pose proof (payers notR isR ltac:(intros [];
        reflexivity)).
      pose proof (unused_nonneg notP w). pose proof (unused_nonneg isR w).
      pose proof (last_read_range (l0 ++ w)). unfold spent in Hz.
      unfold covered_by. repeat (split; [assumption || lia|]). assumption.
    Qed.

    Lemma covered_drain : forall ch l' q, account w ch -> l0 ++ w = l' ++ [q] -> kinds q = KRead ->
      suml drain ch + 1 <= countn sel n -> mixed = true ->
      z <= spent w ch + part q -> covered_by ((q, true) :: ch) 0.
    Proof.
      intros ch l' q [[N1 N2 N3 N4 N5 N6 N7 N8 N9] _ _] Hl Hk Hd Hm Hz.
      pose proof (payers isP notP ltac:(reflexivity)).
      pose proof (unused_nonneg notP w).
      assert (Hlr : last_read (l0 ++ w) = 1) by (rewrite Hl, last_read_snoc, Hk; reflexivity).
      assert (F1 : suml fill ((q, true) :: ch) = suml fill ch).
      { rewrite suml_cons. unfold fill at 1. simpl. rewrite Hk. reflexivity. }
      assert (F2 : suml drain ((q, true) :: ch) = 1 + suml drain ch).
      { rewrite suml_cons. unfold drain at 1. simpl. rewrite Hk. reflexivity. }
      assert (F3 : suml hold ((q, true) :: ch) = suml hold ch) by (rewrite suml_cons; reflexivity).
      assert (F4 : suml amount ((q, true) :: ch) = part q + suml amount ch)
        by (rewrite suml_cons; reflexivity).
      unfold covered_by. rewrite F1, F2, F3, F4. unfold spent in Hz.
      split; [constructor; [apply (N3 l' q Hl Hk)|assumption]|].
      split.
      { intros c [<-|Hc]; [|apply N2; assumption]. simpl.
        split; [rewrite Hl; apply in_or_app; right; left; reflexivity|].
        split; [congruence|discriminate]. }
      repeat (split; [assumption || lia|]). split; [intros _; assumption|].
      split; [lia|left; reflexivity].
    Qed.

    Lemma covered_to_z :
      ((forall t, x <= t < z -> (forall q, In q w -> g_st q <= t) ->
          exists k, waiting X (l0 ++ w) t k /\ j_due (jb k) <= z) /\
       (forall q, In q rest -> z <= g_st q)) \/
      (exists w0 s, w = w0 ++ [s] /\ g_last s = true /\ z < g_en s) ->
      exists ch tail, covered_by ch tail.
    Proof.
      intros Hend. destruct (account_all w []) as [ch Hch]; [rewrite app_nil_r; reflexivity|].
      pose proof (ac_array _ _ Hch) as AE. pose proof (bk_drains _ _ (ac_books _ _ Hch)) as AD.
      pose proof (spent_x w [] ch ltac:(rewrite app_nil_r; reflexivity)) as Hx.
      pose proof (payers notR isR ltac:(intros []; reflexivity)) as Hpay.
      assert (Hs : steps = (l0 ++ w) ++ rest) by (rewrite split0, app_assoc; reflexivity).
      destruct Hend as [[Hbusy Hrest]|[w0 [s [Hw [Hlast Hz]]]]].
      - (* the late job has a step not begun at z *)
        destruct (Z.le_gt_cases z (E (l0 ++ w))) as [HE|HE].
        { exists ch, 0. apply covered_plain; [assumption|lia|left; reflexivity]. }
        assert (Hst : forall q, In q w -> g_st q <= Z.max x (E (l0 ++ w))).
        { intros q Hq. assert (Hi : In q (l0 ++ w)) by (apply in_or_app; right; assumption).
          pose proof (at_most_E _ q Hi).
          pose proof (shape_in q (prefix_in _ _ Hs q Hi)) as Hsh. unfold shape in Hsh.
          destruct (kinds q); lia. }
        assert (Hgap : forall t, x <= t < z -> (forall q, In q w -> g_st q <= t) ->
          exists m, first_job X (l0 ++ w) t m /\ (m < n)%nat /\ sel m = true /\
            ~ may_begin (kindj m) (l0 ++ w) t).
        { intros t Ht Hb. destruct (Hbusy t Ht Hb) as [k [Hk Hd]].
          destruct (first_of_waiting (l0 ++ w) t k Hk) as [m Hm]. exists m.
          split; [assumption|]. split; [apply Hm|]. split;
            [apply (first_selected w t m k Hm Hk Hd)|].
          apply (X3_begins d P X rules (l0 ++ w) rest t m Hs); try assumption.
          - apply (all_before w [] t); [rewrite app_nil_r; reflexivity|lia|assumption].
          - intros q Hq. specialize (Hrest q Hq). lia.
          - lia. }
        assert (HR : z <= R (l0 ++ w)).
        { destruct (Z.le_gt_cases z (R (l0 ++ w))) as [|Hlt]; [assumption|exfalso].
          set (t := Z.max (Z.max x (E (l0 ++ w))) (R (l0 ++ w))).
          assert (Hst2 : forall q, In q w -> g_st q <= t) by (intros q Hq; specialize (Hst q Hq);
            unfold t; lia).
          destruct (Hgap t ltac:(unfold t; lia) Hst2) as [m [_ [_ [_ Hm]]]].
          apply Hm. apply (all_may_begin (l0 ++ w) rest Hs t);
            try (apply (all_before w [] t); [rewrite app_nil_r; reflexivity|unfold t;
              lia|assumption]);
            unfold t; lia. }
        assert (Hlr : exists l' q, l0 ++ w = l' ++ [q] /\ kinds q = KRead).
        { destruct (exists_last_or_nil (l0 ++ w)) as [Hn|[l' [q Hl]]].
          - rewrite Hn in HR. unfold register_free in HR. simpl in HR. lia.
          - exists l', q. split; [assumption|].
            pose proof (state_of_last l' q rest ltac:(rewrite <- Hl; assumption)) as Hq.
            rewrite <- Hl in Hq.
            pose proof (shape_in q (prefix_in _ _ Hs q ltac:(rewrite Hl; apply in_or_app; right;
              left; reflexivity)))
              as Hsh. unfold shape in Hsh. destruct (kinds q); [reflexivity|lia|lia]. }
        destruct Hlr as [l' [q [Hl Hk]]].
        destruct (Hgap (Z.max x (E (l0 ++ w))) ltac:(lia) Hst) as [m [Hm1 [Hm2 [Hm3 Hm4]]]].
        assert (Hkm : kindj m <> KRead).
        { intros Hc. apply Hm4. rewrite Hc. apply (read_may_begin (l0 ++ w) rest Hs); [lia| |lia].
          apply (all_before w []); [rewrite app_nil_r; reflexivity|lia|assumption]. }
        pose proof (state_of_last l' q rest ltac:(rewrite <- Hl; assumption)) as Hq.
        rewrite Hk, <- Hl in Hq. destruct Hq as [HE2 HR2].
        pose proof (asked_shape q) as Haq. rewrite Hk in Haq. destruct Haq as [Haq1 Haq2].
        exists ((q, true) :: ch), 0. apply (covered_drain ch l' q Hch Hl Hk).
        + destruct (payer w rest (Z.max x (E (l0 ++ w))) m Hs Hst Hm1) as [Ha|[w0 [p [Hw Hp]]]].
          * pose proof (payers_more notR isR m ltac:(intros []; reflexivity) Hm2 Hm3
              ltac:(unfold notR; destruct (kindj m); [congruence| |]; reflexivity) Ha).
            pose proof (unused_nonneg isR w). lia.
          * assert (p = q).
            { rewrite Hw, app_assoc in Hl. apply app_inj_tail in Hl. apply Hl. }
            subst p. assert (Hu : unused isR w = 1); [|lia].
            rewrite Hw, unused_snoc, Hk. destruct Hp as [Hp|Hp]; [exfalso|rewrite Hp; reflexivity].
            apply Hkm. rewrite Hp, <- Hk. symmetry. apply kind_step. apply (prefix_in _ _ Hs).
            rewrite Hl. apply in_or_app. right. left. reflexivity.
        + apply (mixed_known m); assumption.
        + unfold part. rewrite Haq1, Haq2, <- HE2, <- HR2. lia.
      - (* its last step has begun *)
        assert (Hl : l0 ++ w = (l0 ++ w0) ++ [s]) by (rewrite Hw, app_assoc; reflexivity).
        pose proof (state_of_last (l0 ++ w0) s rest ltac:(rewrite <- Hl; assumption)) as Hq.
        rewrite <- Hl in Hq.
        pose proof (shape_in s (prefix_in _ _ Hs s ltac:(rewrite Hl; apply in_or_app; right; left;
          reflexivity)))
          as Hsh. unfold shape in Hsh.
        destruct (kinds s) eqn:Ek.
        + destruct Hq as [HE2 HR2].
          destruct mixed eqn:Em.
          * exists ((s, true) :: ch), 0. apply (covered_drain ch (l0 ++ w0) s Hch Hl Ek).
            -- assert (Hu : unused isR w = 1) by (rewrite Hw, unused_snoc, Hlast, Ek; reflexivity).
               lia.
            -- assumption.
            -- pose proof (asked_shape s) as Has. rewrite Ek in Has. destruct Has as [Has1 Has2].
               unfold part. rewrite Has1, Has2. lia.
          * exists ch, b. apply covered_plain; [assumption|lia|right; auto].
        + exists ch, 0. apply covered_plain; [assumption|lia|left; reflexivity].
        + exists ch, 0. apply covered_plain; [assumption|lia|left; reflexivity].
    Qed.
  End Window.
End Chip.
