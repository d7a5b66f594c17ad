(* Whether a given trace obeys the rules, by computation: what examples and counterexamples rest on.
   The states of the blocks at each choice of a victim are given with the trace. *)
From Coq Require Import ZArith List Lia Bool.
From Rtflash Require Import Sums Demand Victims Sporadic Trace.
Import ListNotations.
Open Scope Z_scope.

Definition is_none {A : Type} (o : option A) : bool := match o with None => true | _ => false end.

Definition block_okb (PP : Z) (b : block) : bool :=
  (0 <=? b_valid b) &&
  match b_is b with
  | Erased => b_free b =? PP
  | Open => (1 <=? b_free b) && (b_free b <=? PP)
  | Closed | UnderWay => b_free b =? 0
  end.

Definition victimb (P : processor) (f others val : Z) (l : list block) : bool :=
  (Z.of_nat (length l) =? p_N P) && forallb (block_okb (p_PP P)) l && (suml b_free l =? f) &&
  (number is_open l <=? 1) && (number is_under_way l <=? others) && (suml b_valid l <=? p_Lam P) &&
  existsb (fun b => is_closed b && (b_valid b =? val)) l &&
  forallb (fun b => negb (is_closed b) || (val <=? b_valid b)) l.

Definition pass_stepb (P : processor) (p : option pass) (a : action) : bool :=
  match p, a with
  | Some q, AGcRead k =>
      (1 <=? k) && (ps_p q + k <=? ps_v q) && (ps_r q <? Z.min (ps_v q) (p_P P))
  | Some q, ACopy k =>
      (1 <=? k) && (k <=? p_s P) && (ps_c q + k <=? ps_v q) && (ps_w q <? cdiv (ps_v q) (p_s P))
  | Some _, AErase => true
  | _, _ => false
  end.

Definition within (lo x hi : Z) : bool := (lo <=? x) && (x <=? hi).

Section Check.
  Variable P : processor.
  Variable X : trace.
  (* The blocks when the step with this number in the trace chooses a victim. *)
  Variable blocks : nat -> list block.

  Let n := length (x_jobs X).
  Notation jb := (jb X).
  Notation rq := (rq P).

  Definition act_ruleb (l : list step) (s : step) : bool :=
    let z := run P X l in
    let t := s_st s in
    let b := arrived X t - z_c z in
    let m := s_job s in
    let long := s_en s - s_st s in
    match j_class (jb m) with
    | Req i =>
        within 1 long (r_q (rq i)) &&
        match s_act s with ARead => true | AProg k => within 1 k (p_s P) | _ => false end &&
        (parts l m + 1 <=? j_parts (jb m)) &&
        (negb (parts l m + 1 =? j_parts (jb m)) || s_last s) &&
        (programmed l m + drawn s <=? j_pages (jb m)) &&
        (negb (s_last s) || (programmed l m + drawn s =? j_pages (jb m)))
    | Gc k =>
        (z_K z =? k - 1) &&
        match s_act s with
        | AVoid => is_none (z_pass z) && (p_H P <=? z_f z - b) && (long =? 0) && s_last s
        | APick val =>
            is_none (z_pass z) && (z_f z - b <? p_H P) && (long =? 0) && negb (s_last s) &&
            victimb P (z_f z) (under_way (z_spass z)) val (blocks (length l))
        | a =>
            pass_stepb P (z_pass z) a && within 1 long (pass_step_time P a) &&
            Bool.eqb (s_last s) (match a with AErase => true | _ => false end)
        end
    | Srv j =>
        match s_act s with
        | ARead => (reads l m + 1 <=? sv_r (sj P j)) && within 1 long (p_sr P)
        | AProg k =>
            (pages_before P j <=? z_n z) && (z_n z + k <=? pages_before P (S j)) &&
            (1 <=? k) && (k =? Z.min (p_s P) (pages_before P (S j) - z_n z)) &&
            is_none (z_spass z) && (server_ahead P z <? g_alpha (p_g P)) && within 1 long (p_sw P)
        | a =>
            (pages_before P j <? g_alpha (p_g P) * (z_S z + 1)) &&
            (g_alpha (p_g P) * (z_S z + 1) <=? pages_before P (S j)) &&
            match a with
            | AVoid =>
                is_none (z_spass z) && (g_alpha (p_g P) <=? server_ahead P z) &&
                (p_H P <=? z_f z - b) && (long =? 0)
            | APick val =>
                is_none (z_spass z) && (g_alpha (p_g P) <=? server_ahead P z) &&
                (z_f z - b <? p_H P) && (long =? 0) &&
                victimb P (z_f z) (under_way (z_pass z)) val (blocks (length l))
            | _ => pass_stepb P (z_spass z) a && within 1 long (pass_step_time P a)
            end
        end
    | Bg =>
        within 1 long (g_qs (p_g P)) &&
        match s_act s with
        | ARead => true
        | AProg k => (1 <=? k) && (p_H P <=? z_f z - k - b)
        | _ => false
        end
    end.

  Definition step_ruleb (l : list step) (s : step) : bool :=
    let t := s_st s in
    let m := s_job s in
    Nat.ltb m n && (0 <=? t) && (t <=? s_en s) &&
    forallb (fun r => s_en r <=? t) l &&
    (j_rel (jb m) <=? t) && negb (finished l m t) &&
    forallb (fun k => negb ((j_rel (jb k) <=? t) && negb (finished l k t))
                      || (j_due (jb m) <=? j_due (jb k))) (seq 0 n) &&
    act_ruleb l s.

  Fixpoint stepsb (l r : list step) : bool :=
    match r with
    | [] => true
    | s :: r' => step_ruleb l s && stepsb (l ++ [s]) r'
    end.

  Definition job_ruleb (m : nat) : bool :=
    (0 <=? j_rel (jb m)) &&
    match j_class (jb m) with
    | Req i =>
        Nat.ltb i (length (p_rs P)) &&
        within (j_nom (jb m)) (j_rel (jb m)) (j_nom (jb m) + r_J (rq i)) &&
        (j_due (jb m) =? j_nom (jb m) + r_D (rq i)) &&
        within 0 (j_pages (jb m)) (r_w (rq i)) &&
        (1 <=? j_parts (jb m)) && (j_parts (jb m) * r_q (rq i) <=? r_C (rq i)) &&
        forallb (fun k => Nat.eqb k m || negb (is_req X i k) ||
          (j_nom (jb m) + r_T (rq i) <=? j_nom (jb k)) ||
          (j_nom (jb k) + r_T (rq i) <=? j_nom (jb m))) (seq 0 n)
    | Gc k =>
        (1 <=? k) && (arrived X (j_rel (jb m) - 1) <? g_alpha (p_g P) * k) &&
        (g_alpha (p_g P) * k <=? arrived X (j_rel (jb m))) &&
        (j_due (jb m) =? j_rel (jb m) + g_D (p_g P)) &&
        forallb (fun r => Nat.eqb r m || negb (is_gc X r) || negb (gc_number X r =? k)) (seq 0 n)
    | Srv j =>
        p_server P && Nat.ltb j (length (p_served P)) &&
        (j_rel (jb m) =? sv_a (sj P j)) && (j_due (jb m) =? served_due P j) &&
        forallb (fun r => Nat.eqb r m || negb (is_srv X r) || negb (Nat.eqb (srv_number X r) j))
          (seq 0 n)
    | Bg => x_end X <? j_due (jb m)
    end.

  Definition instants (k : Z) : list Z := map Z.of_nat (seq 0 (Z.to_nat k)).

  Definition all_releasedb : bool :=
    forallb (fun k => negb (1 <=? k) || negb (g_alpha (p_g P) * k <=? arrived X (x_end X)) ||
      existsb (fun m => is_gc X m && (gc_number X m =? k)) (seq 0 n))
      (instants (arrived X (x_end X) + 1)).

  Definition never_idleb : bool :=
    forallb (fun t =>
      forallb (fun m => negb (j_rel (jb m) <=? t) || finished (x_steps X) m t ||
        existsb (fun s => (s_st s <=? t) && (t <? s_en s)) (x_steps X)) (seq 0 n))
      (instants (x_end X)).

  Definition deadlinesb : bool :=
    forallb (fun j =>
      Z.max (sv_a (sj P j)) (deadline_before P j) + cdiv (1000 * served_cost P j) (g_us (p_g P))
      <=? served_due P j) (seq 0 (length (p_served P))).

  Definition countedb : bool :=
    (1 <=? g_alpha (p_g P)) && forallb job_ruleb (seq 0 n) && all_releasedb &&
    deadlinesb && (p_H P <=? x_f0 X) && stepsb [] (x_steps X).

  Definition obeysb : bool := countedb && never_idleb.

  Ltac bools :=
    repeat match goal with
    | H : _ && _ = true |- _ => apply andb_true_iff in H; destruct H
    | H : within _ _ _ = true |- _ => unfold within in H
    | H : (_ <=? _) = true |- _ => apply Z.leb_le in H
    | H : (_ <? _) = true |- _ => apply Z.ltb_lt in H
    | H : (_ =? _) = true |- _ => apply Z.eqb_eq in H
    | H : Nat.ltb _ _ = true |- _ => apply Nat.ltb_lt in H
    | H : Nat.eqb _ _ = true |- _ => apply Nat.eqb_eq in H
    | H : negb _ = true |- _ => apply negb_true_iff in H
    | H : Bool.eqb _ _ = true |- _ => apply Bool.eqb_prop in H
    | H : is_none ?o = true |- _ => destruct o eqn:?; [discriminate H|clear H]
    end.

  Ltac for_all r :=
    match goal with
    | H : forallb _ _ = true |- _ =>
        rewrite forallb_forall in H; specialize (H r ltac:(apply in_seq; unfold n in *; lia));
        rename H into Hfa
    end.

  Lemma victimb_spec : forall f o val l, victimb P f o val l = true -> R4_victim P f o val.
  Proof.
    unfold victimb, R4_victim. intros f o val l H. bools. exists l. split.
    - unfold blocks_ok. repeat split; try assumption.
      + rewrite forallb_forall in H6. specialize (H6 b H7). unfold block_okb in H6. bools. assumption.
      + rewrite forallb_forall in H6. specialize (H6 b H7). unfold block_okb in H6. bools.
        destruct (b_is b); bools; lia.
    - split.
      + apply existsb_exists in H1. destruct H1 as [b [Hb Hv]]. bools. exists b. auto.
      + intros b Hb Hc. rewrite forallb_forall in H0. specialize (H0 b Hb). rewrite Hc in H0.
        simpl in H0. bools. assumption.
  Qed.

  Lemma pass_stepb_spec : forall p a, pass_stepb P p a = true -> R4_pass_step P p a.
  Proof.
    unfold pass_stepb, R4_pass_step. intros p a H.
    destruct p; destruct a; try discriminate; bools; try exact I; lia.
  Qed.

  Lemma step_ruleb_spec : forall l s, step_ruleb l s = true -> step_rule P X l s.
  Proof.
    intros l s H. unfold step_ruleb in H. bools. unfold step_rule.
    split; [assumption|]. split; [assumption|]. split; [assumption|].
    split.
    { intros r Hr. rewrite forallb_forall in H4. specialize (H4 r Hr). bools. assumption. }
    split; [assumption|]. split; [assumption|]. split.
    { intros k Hk Hrel Hfin. rewrite forallb_forall in H1.
      specialize (H1 k ltac:(apply in_seq; lia)). rewrite Hfin in H1.
      apply orb_true_iff in H1. destruct H1 as [H1|H1]; bools; [|assumption].
      apply andb_false_iff in H1. destruct H1 as [H1|H1]; [apply Z.leb_gt in H1; lia|discriminate]. }
    clear H1 H2 H3 H4 H5 H6 H. unfold act_ruleb in H0.
    destruct (j_class (jb (s_job s))) as [i|k|j|].
    - bools. split; [lia|]. split.
      + destruct (s_act s); try discriminate; [left; reflexivity|right]. bools.
        eexists. split; [reflexivity|lia].
      + split; [assumption|]. split.
        * intros He. apply orb_true_iff in H2. destruct H2 as [H2|H2]; [|assumption].
          bools. apply Z.eqb_neq in H2. contradiction.
        * split; [assumption|]. intros Hl. rewrite Hl in H0. simpl in H0. bools. assumption.
    - bools. split; [assumption|].
      destruct (s_act s); bools; repeat split; auto; try lia;
        try (apply pass_stepb_spec; assumption); try (eapply victimb_spec; eassumption).
    - destruct (s_act s); bools; repeat split; auto; try lia;
        try (apply pass_stepb_spec; assumption); try (eapply victimb_spec; eassumption).
    - bools. split; [lia|]. destruct (s_act s); try discriminate; [left; reflexivity|right].
      bools. eexists. split; [reflexivity|lia].
  Qed.

  Lemma stepsb_spec : forall r l, stepsb l r = true ->
    forall l1 s r1, r = l1 ++ s :: r1 -> step_rule P X (l ++ l1) s.
  Proof.
    induction r as [|a r IH]; intros l H l1 s r1 Hr.
    - destruct l1; discriminate.
    - simpl in H. apply andb_true_iff in H. destruct H as [H1 H2].
      destruct l1 as [|x l1]; simpl in Hr; injection Hr as -> Hr.
      + rewrite app_nil_r. apply step_ruleb_spec. assumption.
      + specialize (IH (l ++ [x]) H2 l1 s r1 Hr). rewrite <- app_assoc in IH. assumption.
  Qed.

  Theorem countedb_spec : countedb = true -> counted P X.
  Proof.
    unfold countedb. intros H.
    apply andb_true_iff in H. destruct H as [H Hsteps].
    apply andb_true_iff in H. destruct H as [H Hf0].
    apply andb_true_iff in H. destruct H as [H H31].
    apply andb_true_iff in H. destruct H as [H Hall].
    apply andb_true_iff in H. destruct H as [Ha Hjobs]. apply Z.leb_le in Ha.
    assert (Hj : forall m, (m < n)%nat -> job_ruleb m = true).
    { intros m Hm. rewrite forallb_forall in Hjobs. apply Hjobs. apply in_seq. lia. }
    clear Hjobs.
    constructor.
    - intros m Hm. specialize (Hj m Hm). unfold job_ruleb in Hj. bools. assumption.
    - intros m i Hm Hc. specialize (Hj m Hm). unfold job_ruleb in Hj. rewrite Hc in Hj. bools.
      repeat split; lia.
    - intros i m k Hm Hk Hpm Hpk Hne. unfold is_req in Hpm.
      destruct (j_class (jb m)) eqn:Hc; try discriminate. apply Nat.eqb_eq in Hpm. subst i0.
      specialize (Hj m Hm). unfold job_ruleb in Hj. rewrite Hc in Hj. bools.
      for_all k. rewrite Hpk in Hfa. destruct (Nat.eqb_spec k m); [congruence|]. simpl in Hfa.
      apply orb_true_iff in Hfa. destruct Hfa as [Hfa|Hfa]; bools; lia.
    - intros m k Hm Hc. specialize (Hj m Hm). unfold job_ruleb in Hj. rewrite Hc in Hj. bools.
      repeat split; lia.
    - intros k Hk Hle.
      assert (Hr : 0 <= arrived X (x_end X)).
      { apply sumn_nonneg. intros m Hm. destruct (is_request X m) eqn:E; simpl; [|lia].
        unfold is_request in E. destruct (j_class (jb m)) eqn:Hc; try discriminate.
        specialize (Hj m Hm). unfold job_ruleb in Hj. rewrite Hc in Hj. bools.
        destruct (j_rel (jb m) <=? x_end X); lia. }
      unfold all_releasedb in Hall. rewrite forallb_forall in Hall.
      specialize (Hall k).
      assert (Hin : In k (instants (arrived X (x_end X) + 1))).
      { unfold instants. apply in_map_iff. exists (Z.to_nat k). split; [lia|].
        apply in_seq. nia. }
      specialize (Hall Hin). apply orb_true_iff in Hall. destruct Hall as [Hall|Hall].
      + apply orb_true_iff in Hall. destruct Hall as [Hall|Hall]; bools; apply Z.leb_gt in Hall; lia.
      + apply existsb_exists in Hall. destruct Hall as [m [Hm Hg]]. apply in_seq in Hm. bools.
        unfold is_gc, gc_number in *. destruct (j_class (jb m)) eqn:Hc; try discriminate.
        exists m. split; [unfold n in *; lia|]. congruence.
    - intros m r k Hm Hr Hcm Hcr. specialize (Hj m Hm). unfold job_ruleb in Hj.
      rewrite Hcm in Hj. bools. for_all r. unfold is_gc, gc_number in Hfa.
      rewrite Hcr, Z.eqb_refl in Hfa. simpl in Hfa. rewrite !orb_false_r in Hfa. bools. congruence.
    - apply Z.leb_le. assumption.
    - intros m j Hm Hc. specialize (Hj m Hm). unfold job_ruleb in Hj. rewrite Hc in Hj. bools.
      repeat split; assumption.
    - intros j Hlt. unfold deadlinesb in H31. rewrite forallb_forall in H31.
      apply Z.leb_le. apply H31. apply in_seq. lia.
    - intros m r j Hm Hr Hcm Hcr. specialize (Hj m Hm). unfold job_ruleb in Hj.
      rewrite Hcm in Hj. bools. for_all r. unfold is_srv, srv_number in Hfa.
      rewrite Hcr, Nat.eqb_refl in Hfa. simpl in Hfa. rewrite !orb_false_r in Hfa. bools. congruence.
    - intros m Hm Hc. specialize (Hj m Hm). unfold job_ruleb in Hj. rewrite Hc in Hj. bools.
      assumption.
    - intros l s r Hs. apply (stepsb_spec (x_steps X) [] Hsteps l s r Hs).
  Qed.

  Theorem obeysb_spec : obeysb = true -> obeys P X.
  Proof.
    unfold obeysb. intros H. apply andb_true_iff in H. destruct H as [H Hidle].
    constructor; [apply countedb_spec; assumption|].
    intros t m Ht Hm Hrel Hfin. unfold never_idleb in Hidle. rewrite forallb_forall in Hidle.
    specialize (Hidle t).
    assert (Hin : In t (instants (x_end X))).
    { unfold instants. apply in_map_iff. exists (Z.to_nat t). split; [lia|]. apply in_seq. lia. }
    specialize (Hidle Hin). rewrite forallb_forall in Hidle.
    specialize (Hidle m ltac:(apply in_seq; unfold n in *; lia)). rewrite Hfin in Hidle.
    rewrite orb_false_r in Hidle. apply orb_true_iff in Hidle. destruct Hidle as [Hi|Hi].
    + bools. apply Z.leb_gt in Hi. lia.
    + apply existsb_exists in Hi. destruct Hi as [s [Hs Hst]]. bools. exists s. auto.
  Qed.
End Check.
