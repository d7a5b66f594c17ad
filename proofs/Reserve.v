(* Sections 2.4 and 5: pages never run out (Lemma 2, with Lemma 12 in it), by an invariant that every
   event keeps:  f + c + copies in progress + y >= H + alpha K,  where K is the number of GC jobs
   that are over and y what the server is ahead of its passes. And Lemma 3 in a trace. *)
From Coq Require Import ZArith List Lia Bool.
From Rtflash Require Import Sums Demand Victims Sporadic Trace.
Import ListNotations.
Open Scope Z_scope.

Lemma exists_last_or_nil : forall {A : Type} (l : list A), l = [] \/ exists l' a, l = l' ++ [a].
Proof.
  intros A l. destruct l as [|x l]; [left; reflexivity|right].
  destruct (exists_last (l := x :: l)) as [l' [a H]]; [discriminate|]. exists l', a. assumption.
Qed.

Ltac settle := try assumption; try lia; try (intros; congruence).

Section Reserve.
  Variable P : processor.
  Variable X : trace.
  Hypothesis ok : parameters_ok P.
  Hypothesis rules : counted P X.

  Let n := length (x_jobs X).
  Let alpha := g_alpha (p_g P).
  Notation jb := (jb X).
  Notation rq := (rq P).
  Notation arrived := (arrived X).
  Notation run := (run P X).
  Notation begin := (begin X).
  Notation finish := (finish P X).
  Notation step_rule := (step_rule P X).
  Notation ahead := (server_ahead P).
  Notation steps := (x_steps X).

  Lemma alpha_positive : 1 <= alpha.
  Proof. pose proof (ok_collection P ok). unfold collection_ok in *. unfold alpha. lia. Qed.

  Lemma pages_nonneg : forall m, (m < n)%nat -> is_request X m = true -> 0 <= j_pages (jb m).
  Proof.
    intros m Hm Hr. unfold is_request in Hr. destruct (j_class (jb m)) eqn:E; try discriminate.
    pose proof (sporadic P X rules m i Hm E). lia.
  Qed.

  Lemma arrived_mono : forall t u, t <= u -> arrived t <= arrived u.
  Proof.
    intros t u H. apply sumn_le. intros m Hm.
    destruct (is_request X m) eqn:E; simpl; [|lia].
    pose proof (pages_nonneg m Hm E).
    destruct (Z.leb_spec (j_rel (jb m)) t); destruct (Z.leb_spec (j_rel (jb m)) u); lia.
  Qed.

  Lemma arrived_nonneg : forall t, 0 <= arrived t.
  Proof.
    intros t. apply sumn_nonneg. intros m Hm.
    destruct (is_request X m) eqn:E; simpl; [|lia].
    pose proof (pages_nonneg m Hm E). destruct (j_rel (jb m) <=? t); lia.
  Qed.

  Lemma arrived_before : forall t, t < 0 -> arrived t = 0.
  Proof.
    intros t Ht. apply sumn_zero. intros m Hm. pose proof (released P X rules m Hm).
    destruct (Z.leb_spec (j_rel (jb m)) t); [lia|]. rewrite andb_false_r. reflexivity.
  Qed.

  Lemma run_snoc : forall l s, run (l ++ [s]) = finish (begin (run l) s) s.
  Proof. intros. unfold Trace.run. rewrite fold_left_app. reflexivity. Qed.

  (* A moment: the steps l have begun, those of r have not, and it is t. *)
  Definition moment (l r : list step) (t : Z) : Prop :=
    steps = l ++ r /\ (forall s, In s l -> s_st s <= t) /\ (forall s, In s r -> t <= s_st s).

  Lemma prefix_rule : forall l s r, steps = l ++ s :: r -> step_rule l s.
  Proof. intros l s r H. apply (steps_obey P X rules l s r H). Qed.

  Lemma step_of_list : forall s, In s steps -> exists l r, steps = l ++ s :: r /\ step_rule l s.
  Proof.
    intros s H. apply in_split in H. destruct H as [l [r H]]. exists l, r. split; [assumption|].
    apply (prefix_rule l s r H).
  Qed.

  Lemma step_order : forall l s r, steps = l ++ s :: r ->
    0 <= s_st s <= s_en s /\ (forall x, In x l -> s_en x <= s_st s) /\
    (forall x, In x r -> s_en s <= s_st x).
  Proof.
    intros l s r H. pose proof (prefix_rule l s r H) as Hr. unfold Trace.step_rule in Hr.
    split; [lia|]. split; [apply Hr|].
    intros x Hx. apply in_split in Hx. destruct Hx as [r1 [r2 Hx]].
    assert (Hs : steps = (l ++ s :: r1) ++ x :: r2) by (rewrite H, Hx, <- app_assoc; reflexivity).
    pose proof (prefix_rule _ _ _ Hs) as Hr2. unfold Trace.step_rule in Hr2.
    apply Hr2. apply in_or_app. right. left. reflexivity.
  Qed.

  Lemma moment_at_step : forall l s r, steps = l ++ s :: r -> moment l (s :: r) (s_st s).
  Proof.
    intros l s r H. pose proof (step_order l s r H) as [H1 [H2 H3]].
    split; [assumption|]. split.
    - intros x Hx. assert (In x steps) by (rewrite H; apply in_or_app; auto).
      destruct (step_of_list x H0) as [l1 [r1 [Hx1 _]]].
      pose proof (step_order l1 x r1 Hx1). specialize (H2 x Hx). lia.
    - intros x [<-|Hx]; [lia|]. specialize (H3 x Hx). lia.
  Qed.

  Lemma split_steps : forall t, exists l r, moment l r t /\ forall s, In s r -> t < s_st s.
  Proof.
    intros t.
    assert (H : forall k l0, steps = l0 ++ k -> exists l r, k = l ++ r /\
      (forall s, In s l -> s_st s <= t) /\ (forall s, In s r -> t < s_st s)).
    { induction k as [|a k IH]; intros l0 H0.
      - exists [], []. simpl. split; [reflexivity|]. split; intros s [].
      - destruct (Z.le_gt_cases (s_st a) t) as [Ha|Ha].
        + destruct (IH (l0 ++ [a])) as [l [r [H1 [H2 H3]]]];
            [rewrite H0, <- app_assoc; reflexivity|].
          exists (a :: l), r. split; [simpl; congruence|].
          split; [intros s [<-|Hs]; auto|assumption].
        + exists [], (a :: k). split; [reflexivity|]. split; [intros s []|].
          pose proof (step_order l0 a k H0) as [Ho1 [_ Ho2]].
          intros s [<-|Hs]; [lia|]. specialize (Ho2 s Hs). lia. }
    destruct (H steps [] eq_refl) as [l [r [H1 [H2 H3]]]].
    exists l, r. split; [|assumption]. split; [assumption|]. split; [assumption|].
    intros s Hs. specialize (H3 s Hs). lia.
  Qed.

  (* The state at the end of t: all steps begun have ended, or the last one has not. *)
  Lemma at_time_moment : forall t l r, moment l r t -> (forall s, In s r -> t < s_st s) ->
    (at_time P X t steps = run l /\ forall s, In s l -> s_en s <= t) \/
    (exists l' s, l = l' ++ [s] /\ t < s_en s /\ at_time P X t steps = begin (run l') s /\
       forall x, In x l' -> s_en x <= t).
  Proof.
    intros t l r [H1 [H2 _]] H3. unfold at_time. rewrite H1, fold_left_app.
    set (gg := fun (z : state) (s : step) =>
      if s_st s <=? t then if s_en s <=? t then finish (begin z s) s else begin z s else z).
    assert (Hr : forall z, fold_left gg r z = z).
    { clear H1. induction r as [|a r IH]; intros z; [reflexivity|]. simpl.
      replace (gg z a) with z.
      - apply IH. intros s Hs. apply H3. right. assumption.
      - unfold gg. assert (t < s_st a) by (apply H3; left; reflexivity).
        destruct (Z.leb_spec (s_st a) t); [lia|reflexivity]. }
    rewrite Hr.
    assert (Hl : forall l0 z, (forall s, In s l0 -> s_st s <= t /\ s_en s <= t) ->
      fold_left gg l0 z = fold_left (fun z s => finish (begin z s) s) l0 z).
    { induction l0 as [|a l0 IH]; intros z Hz; [reflexivity|]. simpl.
      destruct (Hz a) as [Ha1 Ha2]; [left; reflexivity|].
      unfold gg at 2. destruct (Z.leb_spec (s_st a) t); [|lia].
      destruct (Z.leb_spec (s_en a) t); [|lia].
      apply IH. intros s Hs. apply Hz. right. assumption. }
    destruct (exists_last_or_nil l) as [->|[l' [s ->]]].
    - left. split; [reflexivity|]. intros s [].
    - assert (Hs : steps = l' ++ s :: r) by (rewrite H1, <- app_assoc; reflexivity).
      pose proof (step_order l' s r Hs) as [Ho1 [Ho2 _]].
      assert (Hst : s_st s <= t) by (apply H2; apply in_or_app; right; left; reflexivity).
      assert (Hl' : forall x, In x l' -> s_st x <= t /\ s_en x <= t).
      { intros x Hx. split; [apply H2; apply in_or_app; left; assumption|].
        specialize (Ho2 x Hx). lia. }
      rewrite fold_left_app. simpl. rewrite Hl by assumption.
      destruct (Z.le_gt_cases (s_en s) t) as [He|He].
      + left. split.
        * unfold gg. destruct (Z.leb_spec (s_st s) t); [|lia].
          destruct (Z.leb_spec (s_en s) t); [|lia]. rewrite run_snoc. reflexivity.
        * intros x Hx. apply in_app_or in Hx. destruct Hx as [Hx|[<-|[]]]; [apply Hl'; assumption|assumption].
      + right. exists l', s. split; [reflexivity|]. split; [lia|]. split.
        * unfold gg. destruct (Z.leb_spec (s_st s) t); [|lia].
          destruct (Z.leb_spec (s_en s) t); [lia|reflexivity].
        * intros x Hx. apply Hl'. assumption.
  Qed.

  (* The invariant. *)
  Definition pass_ok (p : option pass) : Prop :=
    match p with
    | None => True
    | Some q => 0 <= ps_c q <= ps_v q /\ ps_v q <= p_v P /\ 0 <= ps_r q /\ 0 <= ps_w q
    end.

  Record invariant (z : state) (t : Z) : Prop := {
    i_reserve : p_H P + alpha * z_K z <=
                z_f z + z_c z + copied (z_pass z) + copied (z_spass z) + ahead z;
    i_K : 0 <= z_K z /\ alpha * z_K z <= arrived t;
    i_pass : pass_ok (z_pass z);
    i_spass : pass_ok (z_spass z);
    i_due : z_spass z <> None -> alpha <= ahead z;
    i_ahead : 0 <= ahead z <= alpha + p_s P - 1;
    i_server : p_server P = false -> ahead z = 0 /\ z_spass z = None
  }.

  Lemma invariant_start : forall t, invariant (start X) t.
  Proof.
    intros t. pose proof alpha_positive. pose proof (ok_sizes P ok). pose proof (arrived_nonneg t).
    pose proof (R5_reserve P X rules).
    constructor; unfold start, server_ahead, pass_ok;
      cbn [z_f z_c z_K z_pass z_n z_S z_spass copied]; try tauto; try lia;
      try (split; [lia|reflexivity]).
    all: intros; try congruence; split; try lia; reflexivity.
  Qed.

  Lemma invariant_later : forall z t u, t <= u -> invariant z t -> invariant z u.
  Proof.
    intros z t u H I. destruct I. pose proof (arrived_mono t u H).
    constructor; try assumption. lia.
  Qed.

  Definition pick_ok (s : step) : Prop := forall val, s_act s = APick val -> val <= p_v P.

  Lemma victim_nonneg : forall f o val, R4_victim P f o val -> 0 <= val.
  Proof.
    intros f o val [l [Hb [[b [Hb1 [_ Hb3]]] _]]]. destruct Hb as [_ [Hb _]].
    destruct (Hb b Hb1). lia.
  Qed.

  (* Every event keeps it: a step begins. *)
  Lemma invariant_begin : forall l s r, steps = l ++ s :: r -> pick_ok s ->
    invariant (run l) (s_st s) -> invariant (begin (run l) s) (s_st s).
  Proof.
    intros l s r Hs Hp I. pose proof alpha_positive as Ha. pose proof (ok_sizes P ok) as Hz.
    pose proof (prefix_rule l s r Hs) as Hr. unfold Trace.step_rule in Hr.
    destruct Hr as [Hm [_ [_ [_ [Hrel [_ [_ Hr]]]]]]].
    destruct I as [I1 I2 I3 I4 I5 I6 I7].
    pose proof (arrived_nonneg (s_st s)) as Harr.
    unfold Trace.begin, server_ahead in *. set (z := run l) in *. set (t := s_st s) in *.
    destruct (j_class (jb (s_job s))) as [i|k|j|] eqn:Ec.
    - (* a request *)
      destruct Hr as [_ [Hact _]].
      constructor; unfold server_ahead, pass_ok; simpl; settle.
    - (* collection *)
      destruct Hr as [HK Hr].
      destruct (R1_released P X rules (s_job s) k Hm Ec) as [Hk1 [Hk2 _]].
      pose proof (arrived_mono _ _ Hrel) as Hmono. fold t in Hmono. fold alpha in Hk2.
      destruct (s_act s) as [|k0|val| |k0| |] eqn:Eact; unfold drawn; rewrite Eact; simpl;
        try (destruct Hr as [Hr _]; destruct (z_pass z); contradiction).
      + (* a victim is chosen *)
        destruct Hr as [Hpass [_ [_ [_ Hv]]]]. rewrite Hpass in *. simpl in *.
        pose proof (victim_nonneg _ _ _ Hv). pose proof (Hp val Eact).
        constructor; unfold server_ahead, pass_ok; simpl; settle.
      + (* its read *)
        destruct Hr as [Hr _]. destruct (z_pass z) as [q|] eqn:Eq; [|contradiction]. simpl in *.
        constructor; unfold server_ahead, pass_ok; simpl; settle.
      + (* copies *)
        destruct Hr as [Hr _]. destruct (z_pass z) as [q|] eqn:Eq; [|contradiction]. simpl in *.
        constructor; unfold server_ahead, pass_ok; simpl; settle.
      + (* its erase begins *)
        destruct Hr as [Hr _]. destruct (z_pass z) as [q|] eqn:Eq; [|contradiction]. simpl in *.
        constructor; unfold server_ahead, pass_ok; simpl; settle.
      + (* a void job *)
        destruct Hr as [Hpass [Hvoid _]]. rewrite Hpass in *. simpl in *.
        assert (Hc : 0 <= copied (z_spass z)).
        { destruct (z_spass z); simpl in *; lia. }
        constructor; unfold server_ahead, pass_ok; simpl; settle.
    - (* the server *)
      assert (Hsrv : p_server P = true) by (apply (server_jobs P X rules (s_job s) j Hm Ec)).
      assert (Hcp : 0 <= copied (z_pass z)) by (destruct (z_pass z); simpl in *; lia).
      destruct (s_act s) as [|k0|val| |k0| |] eqn:Eact; unfold drawn; rewrite Eact; simpl.
      + constructor; unfold server_ahead, pass_ok; simpl; settle.
        intros Hn. specialize (I5 Hn). unfold alpha in *. lia.
      + destruct Hr as [_ [_ [Hk [Hmin [Hnone [Hy _]]]]]]. rewrite Hnone in *. simpl in *.
        unfold alpha in *.
        constructor; unfold server_ahead, pass_ok; simpl; settle.
      + destruct Hr as [_ [Hnone [Hy [_ [_ Hv]]]]]. rewrite Hnone in *. simpl in *.
        pose proof (victim_nonneg _ _ _ Hv). pose proof (Hp val Eact). unfold alpha in *.
        constructor; unfold server_ahead, pass_ok; simpl; settle.
      + destruct Hr as [_ [Hr _]]. destruct (z_spass z) as [q|] eqn:Eq; [|contradiction].
        simpl in *. assert (Hd : alpha <= z_n z - alpha * z_S z) by (apply I5; discriminate).
        unfold alpha in *.
        constructor; unfold server_ahead, pass_ok; simpl; settle.
      + destruct Hr as [_ [Hr _]]. destruct (z_spass z) as [q|] eqn:Eq; [|contradiction].
        simpl in *. assert (Hd : alpha <= z_n z - alpha * z_S z) by (apply I5; discriminate).
        unfold alpha in *.
        constructor; unfold server_ahead, pass_ok; simpl; settle.
      + destruct Hr as [_ [Hr _]]. destruct (z_spass z) as [q|] eqn:Eq; [|contradiction].
        simpl in *. assert (Hd : alpha <= z_n z - alpha * z_S z) by (apply I5; discriminate).
        unfold alpha in *.
        constructor; unfold server_ahead, pass_ok; simpl; settle.
      + destruct Hr as [_ [Hnone [Hy [Hvoid _]]]]. rewrite Hnone in *. simpl in *.
        unfold alpha in *.
        constructor; unfold server_ahead, pass_ok; simpl; settle.
    - (* background *)
      destruct Hr as [_ [Hact|[k [Hact [Hk1 Hk2]]]]]; unfold drawn; rewrite Hact.
      + constructor; unfold server_ahead, pass_ok; simpl; settle.
      + assert (Hcp : 0 <= copied (z_pass z)) by (destruct (z_pass z); simpl in *; lia).
        assert (Hcs : 0 <= copied (z_spass z)) by (destruct (z_spass z); simpl in *; lia).
        constructor; unfold server_ahead, pass_ok; simpl; settle.
  Qed.

  (* Every event keeps it: a step ends. *)
  Lemma invariant_finish : forall l s r, steps = l ++ s :: r ->
    invariant (begin (run l) s) (s_st s) -> invariant (finish (begin (run l) s) s) (s_st s).
  Proof.
    intros l s r Hs I. pose proof alpha_positive as Ha. pose proof (ok_sizes P ok) as Hz.
    pose proof (ok_C1 P ok) as HC1. fold alpha in HC1.
    pose proof (prefix_rule l s r Hs) as Hr. unfold Trace.step_rule in Hr.
    destruct Hr as [Hm [_ [_ [_ [Hrel [_ [_ Hr]]]]]]].
    unfold Trace.finish. destruct (s_act s) eqn:Eact; try assumption.
    unfold Trace.begin in *. unfold drawn in *. rewrite Eact in *. simpl in I.
    destruct (j_class (jb (s_job s))) as [i|k|j|] eqn:Ec; try assumption.
    - destruct Hr as [HK [Hr _]].
      destruct (R1_released P X rules (s_job s) k Hm Ec) as [Hk1 [Hk2 _]].
      pose proof (arrived_mono _ _ Hrel) as Hmono. fold alpha in Hk2.
      destruct I as [I1 I2 I3 I4 I5 I6 I7]. unfold server_ahead in *. simpl in *.
      destruct (z_pass (run l)) as [q|] eqn:Eq; [|contradiction]. simpl in *.
      constructor; unfold server_ahead, pass_ok; simpl; settle.
    - destruct Hr as [Hp [Hr _]]. destruct I as [I1 I2 I3 I4 I5 I6 I7].
      unfold server_ahead in *. simpl in *.
      destruct (z_spass (run l)) as [q|] eqn:Eq; [|contradiction]. simpl in *.
      assert (Hd : alpha <= z_n (run l) + 0 - g_alpha (p_g P) * (z_S (run l) + 0))
        by (apply I5; discriminate).
      unfold alpha in *.
      constructor; unfold server_ahead, pass_ok; simpl; settle.
      intros Hf. destruct (I7 Hf). discriminate.
  Qed.

  Lemma invariant_run : forall l r t, steps = l ++ r ->
    (forall s, In s l -> s_st s <= t /\ pick_ok s) -> invariant (run l) t.
  Proof.
    induction l as [|s l IH] using rev_ind; intros r t Hs Hl.
    - apply invariant_start.
    - rewrite run_snoc.
      assert (Hs' : steps = l ++ s :: r) by (rewrite Hs, <- app_assoc; reflexivity).
      destruct (Hl s) as [H1 H2]; [apply in_or_app; right; left; reflexivity|].
      apply (invariant_later _ (s_st s)); [assumption|].
      apply (invariant_finish l s r Hs'). apply (invariant_begin l s r Hs' H2).
      apply (IH (s :: r)); [assumption|].
      intros x Hx. split; [|apply Hl; apply in_or_app; left; assumption].
      pose proof (moment_at_step l s r Hs') as [_ [Hmm _]]. apply Hmm. assumption.
  Qed.

  Lemma picks_of_prefix : forall l r t, steps = l ++ r -> picks_up_to P X t ->
    (forall s, In s l -> s_st s <= t) -> forall s, In s l -> pick_ok s.
  Proof.
    intros l r t H Hp Hl s Hs val Hv. apply in_split in Hs as Hs'. destruct Hs' as [l1 [l2 Hs']].
    apply (Hp l1 s (l2 ++ r) val); [|assumption|apply Hl; assumption].
    rewrite H, Hs', <- app_assoc. reflexivity.
  Qed.

  Lemma invariant_at : forall t, picks_up_to P X t -> invariant (at_time P X t steps) t.
  Proof.
    intros t Hp. destruct (split_steps t) as [l [r [Hm Hr]]].
    pose proof Hm as [Hs [Hl _]].
    destruct (at_time_moment t l r Hm Hr) as [[-> _]|[l' [s [Heq [He [-> Hl']]]]]].
    - apply (invariant_run l r t Hs). intros s Hin. split; [apply Hl; assumption|].
      apply (picks_of_prefix l r t Hs Hp Hl s Hin).
    - subst l. assert (Hs' : steps = l' ++ s :: r) by (rewrite Hs, <- app_assoc; reflexivity).
      apply (invariant_later _ (s_st s)).
      { apply Hl. apply in_or_app. right. left. reflexivity. }
      apply (invariant_begin l' s r Hs').
      { apply (picks_of_prefix _ r t Hs Hp Hl). apply in_or_app. right. left. reflexivity. }
      apply (invariant_run l' (s :: r)); [assumption|]. intros x Hx. split.
      + pose proof (moment_at_step l' s r Hs') as [_ [Hmm _]]. apply Hmm. assumption.
      + apply (picks_of_prefix _ r t Hs Hp Hl). apply in_or_app. left. assumption.
  Qed.

  (* K grows with time, and counts the GC jobs that are over. *)
  Lemma K_begin : forall z s, z_K z <= z_K (begin z s).
  Proof.
    intros. unfold Trace.begin. destruct (j_class (jb (s_job s))); simpl; try lia.
    unfold ind. destruct (is_void (s_act s)); lia.
  Qed.

  Lemma K_finish : forall z s, z_K z <= z_K (finish z s).
  Proof.
    intros. unfold Trace.finish. destruct (s_act s); try lia.
    destruct (j_class (jb (s_job s))); simpl; lia.
  Qed.

  Lemma K_last : forall l s r m k, steps = l ++ s :: r -> s_job s = m -> j_class (jb m) = Gc k ->
    s_last s = true -> z_K (run (l ++ [s])) = k.
  Proof.
    intros l s r m k Hs Hm Hc Hlast. pose proof (prefix_rule l s r Hs) as Hr.
    unfold Trace.step_rule in Hr. rewrite Hm, Hc in Hr.
    destruct Hr as [_ [_ [_ [_ [_ [_ [_ [HK Hr]]]]]]]].
    rewrite run_snoc. unfold Trace.finish, Trace.begin. rewrite Hm, Hc.
    destruct (s_act s) eqn:Eact; simpl.
    - destruct Hr as [_ [_ Hr]]. congruence.
    - destruct Hr as [_ [_ Hr]]. congruence.
    - destruct Hr as [_ [_ [_ [Hr _]]]]. congruence.
    - destruct Hr as [_ [_ Hr]]. congruence.
    - destruct Hr as [_ [_ Hr]]. congruence.
    - lia.
    - lia.
  Qed.

  Lemma finished_step : forall l m t, finished l m t = true ->
    exists s, In s l /\ s_job s = m /\ s_last s = true /\ s_en s <= t.
  Proof.
    intros l m t H. unfold finished in H. apply existsb_exists in H. destruct H as [s [H1 H2]].
    apply andb_true_iff in H2. destruct H2 as [H2 H3]. apply andb_true_iff in H2.
    destruct H2 as [H2 H4]. exists s. apply Nat.eqb_eq in H2. apply Z.leb_le in H3. auto.
  Qed.

  Lemma finished_intro : forall l m t s, In s l -> s_job s = m -> s_last s = true -> s_en s <= t ->
    finished l m t = true.
  Proof.
    intros l m t s H1 H2 H3 H4. unfold finished. apply existsb_exists. exists s. split; [assumption|].
    rewrite H2, H3, Nat.eqb_refl. simpl. apply Z.leb_le. assumption.
  Qed.

  Lemma over_counts : forall m k t, j_class (jb m) = Gc k -> finished steps m t = true ->
    k <= z_K (at_time P X t steps).
  Proof.
    intros m k t Hc Hf. destruct (finished_step _ _ _ Hf) as [s [Hin [Hm [Hl He]]]].
    apply in_split in Hin. destruct Hin as [l [r Hs]].
    pose proof (K_last l s r m k Hs Hm Hc Hl) as HK.
    pose proof (step_order l s r Hs) as [Ho1 [Ho2 _]].
    unfold at_time. rewrite Hs.
    replace (l ++ s :: r) with ((l ++ [s]) ++ r) by (rewrite <- app_assoc; reflexivity).
    rewrite fold_left_app.
    set (gg := fun (z : state) (s : step) =>
      if s_st s <=? t then if s_en s <=? t then finish (begin z s) s else begin z s else z).
    assert (Hl0 : forall l0 z, (forall s, In s l0 -> s_st s <= t /\ s_en s <= t) ->
      fold_left gg l0 z = fold_left (fun z s => finish (begin z s) s) l0 z).
    { induction l0 as [|a l0 IH]; intros z Hz; [reflexivity|]. simpl.
      destruct (Hz a) as [Ha1 Ha2]; [left; reflexivity|].
      unfold gg at 2. destruct (Z.leb_spec (s_st a) t); [|lia].
      destruct (Z.leb_spec (s_en a) t); [|lia].
      apply IH. intros x Hx. apply Hz. right. assumption. }
    rewrite (Hl0 (l ++ [s]) (start X)).
    - change (fold_left (fun z s0 => finish (begin z s0) s0) (l ++ [s]) (start X))
        with (run (l ++ [s])).
      assert (Hg : forall r0 z, z_K z <= z_K (fold_left gg r0 z)).
      { induction r0 as [|a r0 IH]; intros z; [simpl; lia|]. simpl.
        assert (z_K z <= z_K (gg z a)).
        { unfold gg. destruct (s_st a <=? t); [|lia]. destruct (s_en a <=? t).
          - pose proof (K_begin z a). pose proof (K_finish (begin z a) a). lia.
          - apply K_begin. }
        apply (Z.le_trans _ _ _ H (IH (gg z a))). }
      rewrite <- HK. apply Hg.
    - pose proof (moment_at_step l s r Hs) as [_ [Hmm _]].
      intros x Hx. apply in_app_or in Hx. destruct Hx as [Hx|[<-|[]]]; [|lia].
      specialize (Ho2 x Hx). specialize (Hmm x Hx). lia.
  Qed.

  (* Lemma 7, for the counter and several writers: its growth within (t - D, t]. *)
  Lemma arrived_in_window : forall t D, 1 <= D ->
    arrived t - arrived (t - D)
    <= suml (fun r => cdiv (D + r_J r) (r_T r) * r_w r) (p_rs P).
  Proof.
    intros t D HD.
    set (inside := fun m => is_request X m && ((j_rel (jb m) <=? t) && negb (j_rel (jb m) <=? t - D))).
    assert (H1 : arrived t - arrived (t - D)
      = sumn (fun m => if inside m then j_pages (jb m) else 0) n).
    { unfold Trace.arrived. fold n.
      assert (Hsum : sumn (fun m => if is_request X m && (j_rel (jb m) <=? t) then j_pages (jb m) else 0) n
        = sumn (fun m => (if inside m then j_pages (jb m) else 0)
           + (if is_request X m && (j_rel (jb m) <=? t - D) then j_pages (jb m) else 0)) n).
      { apply sumn_ext. intros m Hm. unfold inside. destruct (is_request X m); simpl; [|lia].
        destruct (Z.leb_spec (j_rel (jb m)) t); destruct (Z.leb_spec (j_rel (jb m)) (t - D));
          simpl; lia. }
      rewrite Hsum, sumn_add. lia. }
    rewrite H1.
    set (key := fun m => match j_class (jb m) with Req i => i | _ => O end).
    rewrite (sumn_by_class n (length (p_rs P)) key).
    2:{ intros m Hm Hi. unfold inside in Hi. apply andb_true_iff in Hi. destruct Hi as [Hi _].
        unfold is_request in Hi. unfold key.
        destruct (j_class (jb m)) eqn:E; try discriminate.
        apply (sporadic P X rules m i Hm E). }
    rewrite (suml_nth _ (Request 0 1 1 0 0 0)). apply sumn_le. intros i Hi.
    fold (rq i).
    assert (Hin : In (rq i) (p_rs P)) by (apply nth_In; assumption).
    pose proof (ok_requests P ok _ Hin) as Hok. unfold request_ok in Hok.
    set (sel := fun m => inside m && Nat.eqb (key m) i).
    assert (Hcnt : countn sel n <= cdiv (D + r_J (rq i)) (r_T (rq i))).
    { replace (D + r_J (rq i)) with (t - (t - D - r_J (rq i))) by lia.
      assert (Hsel : forall m, (m < n)%nat -> sel m = true ->
        j_class (jb m) = Req i /\ t - D < j_rel (jb m) <= t).
      { intros m Hm Hs. unfold sel, inside, is_request, key in Hs.
        destruct (j_class (jb m)) eqn:E; simpl in Hs; try discriminate.
        apply andb_true_iff in Hs. destruct Hs as [Hs1 Hs2].
        apply Nat.eqb_eq in Hs2. subst. apply andb_true_iff in Hs1. destruct Hs1 as [Hs1 Hs3].
        apply Z.leb_le in Hs1. apply negb_true_iff in Hs3. apply Z.leb_gt in Hs3. split; [reflexivity|lia]. }
      apply arrivals_in_half_open with (nom := fun m => j_nom (jb m)); try lia.
      - apply (apart_weaken n (is_req X i) sel); [|apply (period_apart P X rules i)].
        intros m Hm Hs. destruct (Hsel m Hm Hs) as [E _]. unfold is_req. rewrite E. apply Nat.eqb_refl.
      - intros m Hm Hs. destruct (Hsel m Hm Hs) as [E Ht].
        pose proof (sporadic P X rules m i Hm E). lia. }
    assert (Hle : sumn (fun m => if sel m then j_pages (jb m) else 0) n <= r_w (rq i) * countn sel n).
    { apply sumn_count_mul. intros m Hm Hs. unfold sel, inside, is_request, key in Hs.
      destruct (j_class (jb m)) eqn:E; simpl in Hs; try discriminate.
      apply andb_true_iff in Hs. destruct Hs as [_ Hs]. apply Nat.eqb_eq in Hs. subst.
      pose proof (sporadic P X rules m i Hm E). lia. }
    change (sumn (fun m => if inside m && Nat.eqb (key m) i then j_pages (jb m) else 0) n)
      with (sumn (fun m => if sel m then j_pages (jb m) else 0) n).
    assert (r_w (rq i) * countn sel n <= r_w (rq i) * cdiv (D + r_J (rq i)) (r_T (rq i)))
      by (apply Z.mul_le_mono_nonneg_l; lia).
    lia.
  Qed.

  (* (5): a(t) - a(t - D_g) <= A. *)
  Theorem A_of_several_writers : forall t,
    arrived t - arrived (t - g_D (p_g P)) <= within_deadline P.
  Proof.
    intros t. pose proof (ok_collection P ok) as Hg. unfold collection_ok in Hg.
    apply arrived_in_window. lia.
  Qed.

  (* (13): the counter grows by X(y) at most over a closed interval of length y. *)
  Theorem X_of_several_writers : forall x y, x <= y ->
    arrived y - arrived (x - 1) <= arriving (p_rs P) (y - x).
  Proof.
    intros x y Hxy. replace (x - 1) with (y - (y - x + 1)) by lia.
    pose proof (arrived_in_window y (y - x + 1) ltac:(lia)) as H.
    apply (Z.le_trans _ _ _ H). unfold arriving. apply suml_le. intros r Hr.
    pose proof (ok_requests P ok r Hr) as Hok. unfold request_ok in Hok.
    rewrite <- cdiv_floor by lia. replace (y - x + 1 + r_J r - 1) with (y - x + r_J r) by lia. lia.
  Qed.

  (* c, by jobs. *)
  Lemma c_by_jobs : forall l r, steps = l ++ r ->
    z_c (run l) = sumn (fun m => if is_request X m then programmed l m else 0) n.
  Proof.
    assert (H : forall l, z_c (run l) =
      suml (fun s => if is_request X (s_job s) then drawn s else 0) l).
    { induction l as [|s l IH] using rev_ind; [reflexivity|].
      rewrite run_snoc, suml_app. simpl. rewrite <- IH.
      assert (Hf : forall z, z_c (finish z s) = z_c z).
      { intros z. unfold Trace.finish. destruct (s_act s); try reflexivity.
        destruct (j_class (jb (s_job s))); reflexivity. }
      rewrite Hf. unfold Trace.begin, is_request. destruct (j_class (jb (s_job s))); simpl; lia. }
    intros l r Hs. rewrite H.
    rewrite (suml_by_key s_job _ l n).
    - apply sumn_ext. intros m Hm. unfold programmed.
      destruct (is_request X m) eqn:E.
      + apply suml_ext. intros s _. destruct (Nat.eqb_spec (s_job s) m); [|reflexivity].
        subst. rewrite E. reflexivity.
      + apply suml_zero. intros s _. destruct (Nat.eqb_spec (s_job s) m); [|reflexivity].
        subst. rewrite E. reflexivity.
    - intros s Hin. apply in_split in Hin. destruct Hin as [l1 [l2 Hin]].
      assert (Hs' : steps = l1 ++ s :: (l2 ++ r)) by (rewrite Hs, Hin, <- app_assoc; reflexivity).
      pose proof (prefix_rule _ _ _ Hs') as Hr. unfold Trace.step_rule in Hr. apply Hr.
  Qed.

  (* What is programmed of a request: its pages at most, all of them when it is over, and nothing
     before it is released. *)
  Lemma programmed_of_request : forall l r m, steps = l ++ r -> (m < n)%nat ->
    is_request X m = true ->
    0 <= programmed l m <= j_pages (jb m) /\
    (forall t, finished l m t = true -> programmed l m = j_pages (jb m)) /\
    (forall t, (forall s, In s l -> s_st s <= t) -> t < j_rel (jb m) -> programmed l m = 0).
  Proof.
    induction l as [|s l IH] using rev_ind; intros r m Hs Hm Hreq.
    - unfold programmed, finished; simpl. pose proof (pages_nonneg m Hm Hreq).
      split; [lia|]. split; [discriminate|reflexivity].
    - assert (Hs' : steps = l ++ s :: r) by (rewrite Hs, <- app_assoc; reflexivity).
      destruct (IH (s :: r) m Hs' Hm Hreq) as [H1 [H2 H3]].
      pose proof (prefix_rule l s r Hs') as Hr. unfold Trace.step_rule in Hr.
      destruct Hr as [_ [_ [_ [_ [Hrel [Hfin [_ Hr]]]]]]].
      unfold programmed in *. rewrite suml_app. simpl.
      destruct (Nat.eqb_spec (s_job s) m) as [Heq|Hne].
      + subst m. unfold is_request in Hreq.
        destruct (j_class (jb (s_job s))) eqn:Ec; try discriminate.
        destruct Hr as [_ [Hact [_ [_ [Hp1 Hp2]]]]]. fold (programmed l (s_job s)) in *.
        assert (Hd : 0 <= drawn s).
        { unfold drawn. destruct Hact as [->|[k [-> Hk]]]; lia. }
        split; [lia|]. split.
        * intros t Hf. destruct (finished_step _ _ _ Hf) as [x [Hx [Hx1 [Hx2 Hx3]]]].
          apply in_app_or in Hx. destruct Hx as [Hx|[<-|[]]].
          -- pose proof (step_order l s r Hs') as [_ [Ho _]]. specialize (Ho x Hx).
             rewrite (finished_intro l (s_job s) (s_st s) x Hx Hx1 Hx2 Ho) in Hfin. discriminate.
          -- specialize (Hp2 Hx2). lia.
        * intros t Ht Hlt. assert (s_st s <= t) by (apply Ht; apply in_or_app; right; left; reflexivity).
          lia.
      + split; [lia|]. split.
        * intros t Hf. rewrite <- (H2 t); [lia|].
          destruct (finished_step _ _ _ Hf) as [x [Hx [Hx1 [Hx2 Hx3]]]].
          apply in_app_or in Hx. destruct Hx as [Hx|[<-|[]]]; [|congruence].
          apply (finished_intro l m t x); assumption.
        * intros t Ht Hlt. rewrite (H3 t); [lia| |assumption].
          intros x Hx. apply Ht. apply in_or_app. left. assumption.
  Qed.

  (* A request's step that has ended by t is among those that began before. *)
  Lemma finished_at_moment : forall l r t m u, moment l r t -> (m < n)%nat ->
    is_request X m = true -> u <= t -> finished steps m u = true -> finished l m t = true.
  Proof.
    intros l r t m u [H1 [H2 H3]] Hm Hreq Hu Hf.
    destruct (finished_step _ _ _ Hf) as [x [Hx [Hx1 [Hx2 Hx3]]]].
    rewrite H1 in Hx. apply in_app_or in Hx. destruct Hx as [Hx|Hx].
    - apply (finished_intro l m t x); auto; lia.
    - exfalso. specialize (H3 x Hx).
      assert (Hin : In x steps) by (rewrite H1; apply in_or_app; right; assumption).
      destruct (step_of_list x Hin) as [l1 [r1 [Hs Hr]]]. unfold Trace.step_rule in Hr.
      rewrite Hx1 in Hr. unfold is_request in Hreq.
      destruct (j_class (jb m)) eqn:Ec; try discriminate.
      destruct Hr as [_ [_ [_ [_ [_ [_ [_ [Hlen _]]]]]]]]. lia.
  Qed.

  (* Lemma 6: jobs of a request are released in the order of their deadlines. At most ⌈D/T⌉ are
     pending while no deadline of a request is missed: pending_bounds. *)
  Theorem lemma_6 : forall i m k, (m < n)%nat -> (k < n)%nat ->
    j_class (jb m) = Req i -> j_class (jb k) = Req i -> m <> k ->
    (j_due (jb m) < j_due (jb k) /\ j_rel (jb m) < j_rel (jb k)) \/
    (j_due (jb k) < j_due (jb m) /\ j_rel (jb k) < j_rel (jb m)).
  Proof.
    intros i m k Hm Hk Em Ek Hne.
    pose proof (sporadic P X rules m i Hm Em) as [Hi Sm].
    pose proof (sporadic P X rules k i Hk Ek) as [_ Sk].
    assert (Hin : In (rq i) (p_rs P)) by (apply nth_In; assumption).
    pose proof (ok_requests P ok _ Hin) as Hok. unfold request_ok in Hok.
    pose proof (period_apart P X rules i m k Hm Hk) as Hap. unfold is_req in Hap.
    rewrite Em, Ek in Hap. specialize (Hap (Nat.eqb_refl i) (Nat.eqb_refl i) Hne). lia.
  Qed.

  (* b, at a moment: not negative, and at most W while no request is late. *)
  Theorem pending_bounds : forall l r t, moment l r t ->
    0 <= arrived t - z_c (run l) /\
    (requests_in_time_up_to X t -> arrived t - z_c (run l) <= pending_pages P).
  Proof.
    intros l r t Hmom. pose proof Hmom as [H1 [H2 H3]].
    set (open := fun m => is_request X m && (j_rel (jb m) <=? t)).
    set (left := fun m => j_pages (jb m) - programmed l m).
    assert (Hb : arrived t - z_c (run l) = sumn (fun m => if open m then left m else 0) n).
    { rewrite (c_by_jobs l r H1). unfold Trace.arrived. fold n.
      assert (Hsum : sumn (fun m => if is_request X m && (j_rel (jb m) <=? t) then j_pages (jb m) else 0) n
        = sumn (fun m => (if open m then left m else 0)
                 + (if is_request X m then programmed l m else 0)) n).
      { apply sumn_ext. intros m Hm. unfold open, left.
        destruct (is_request X m) eqn:E; simpl; [|lia].
        destruct (Z.leb_spec (j_rel (jb m)) t); [lia|].
        destruct (programmed_of_request l r m H1 Hm E) as [_ [_ H0]].
        rewrite (H0 t H2); lia. }
      rewrite Hsum, sumn_add. lia. }
    rewrite Hb. split.
    - apply sumn_nonneg. intros m Hm. unfold open, left.
      destruct (is_request X m) eqn:E; simpl; [|lia].
      destruct (programmed_of_request l r m H1 Hm E) as [H0 _].
      destruct (j_rel (jb m) <=? t); lia.
    - intros Hin.
      set (live := fun m => open m && negb (finished l m t)).
      assert (Hlive : sumn (fun m => if open m then left m else 0) n
        <= sumn (fun m => if live m then j_pages (jb m) else 0) n).
      { apply sumn_le. intros m Hm. unfold live, open, left.
        destruct (is_request X m) eqn:E; simpl; [|lia].
        destruct (programmed_of_request l r m H1 Hm E) as [H0 [H4 _]].
        destruct (j_rel (jb m) <=? t); simpl; [|lia].
        destruct (finished l m t) eqn:Ef; simpl; [rewrite (H4 t Ef); lia|lia]. }
      apply (Z.le_trans _ _ _ Hlive).
      set (key := fun m => match j_class (jb m) with Req i => i | _ => O end).
      rewrite (sumn_by_class n (length (p_rs P)) key).
      2:{ intros m Hm Hi. unfold live, open, is_request in Hi. unfold key.
          destruct (j_class (jb m)) eqn:E; simpl in Hi; try discriminate.
          apply (sporadic P X rules m i Hm E). }
      unfold pending_pages. rewrite (suml_nth _ (Request 0 1 1 0 0 0)). apply sumn_le. intros i Hi.
      fold (rq i).
      set (sel := fun m => live m && Nat.eqb (key m) i).
      assert (Hsel : forall m, sel m = true ->
        j_class (jb m) = Req i /\ j_rel (jb m) <= t /\ finished l m t = false).
      { intros m Hs. unfold sel, live, open, is_request, key in Hs.
        destruct (j_class (jb m)) eqn:E; simpl in Hs; try discriminate.
        apply andb_true_iff in Hs. destruct Hs as [Hs Hs2]. apply Nat.eqb_eq in Hs2. subst.
        apply andb_true_iff in Hs. destruct Hs as [Hs Hs3]. apply Z.leb_le in Hs.
        apply negb_true_iff in Hs3. auto. }
      assert (Hinr : In (rq i) (p_rs P)) by (apply nth_In; assumption).
      pose proof (ok_requests P ok _ Hinr) as Hok. unfold request_ok in Hok.
      assert (Hdone : forall x, (x < n)%nat -> j_class (jb x) = Req i -> j_due (jb x) <= t ->
        finished l x t = true).
      { intros x Hx Ex Dx. assert (Hrx : is_request X x = true) by (unfold is_request; rewrite Ex; reflexivity).
        apply (finished_at_moment l r t x (j_due (jb x)) Hmom Hx Hrx Dx).
        apply Hin; auto. }
      (* Nominal arrivals of those pending are in (t - D, t]. *)
      assert (Hcnt : countn sel n <= cdiv (r_D (rq i)) (r_T (rq i))).
      { replace (r_D (rq i)) with (t - (t - r_D (rq i))) by lia.
        apply arrivals_in_half_open with (nom := fun m => j_nom (jb m)); try lia.
        - apply (apart_weaken n (is_req X i) sel); [|apply (period_apart P X rules i)].
          intros m Hm Hs. destruct (Hsel m Hs) as [E _]. unfold is_req. rewrite E. apply Nat.eqb_refl.
        - intros m Hm Hs. destruct (Hsel m Hs) as [E [Rm Fm]].
          pose proof (sporadic P X rules m i Hm E) as [_ Sm].
          destruct (Z.le_gt_cases (j_due (jb m)) t) as [Hd|Hd]; [|lia].
          rewrite (Hdone m Hm E Hd) in Fm. discriminate. }
      assert (Hle : sumn (fun m => if sel m then j_pages (jb m) else 0) n <= r_w (rq i) * countn sel n).
      { apply sumn_count_mul. intros m Hm Hs. destruct (Hsel m Hs) as [Em _].
        pose proof (sporadic P X rules m i Hm Em). lia. }
      change (sumn (fun m => if live m && Nat.eqb (key m) i then j_pages (jb m) else 0) n)
        with (sumn (fun m => if sel m then j_pages (jb m) else 0) n).
      assert (r_w (rq i) * countn sel n <= r_w (rq i) * cdiv (r_D (rq i)) (r_T (rq i)))
        by (apply Z.mul_le_mono_nonneg_l; lia).
      lia.
  Qed.

  (* b at the end of an instant. *)
  Lemma pending_at : forall t, exists l r, moment l r t /\ pending P X t = arrived t - z_c (run l).
  Proof.
    intros t. destruct (split_steps t) as [l [r [Hm Hr]]]. exists l, r. split; [assumption|].
    unfold pending. destruct (at_time_moment t l r Hm Hr) as [[-> _]|[l' [s [-> [_ [-> _]]]]]].
    - reflexivity.
    - rewrite run_snoc. unfold Trace.finish. destruct (s_act s); try reflexivity.
      destruct (j_class (jb (s_job s))); reflexivity.
  Qed.

  Lemma server_reserve_covers : forall z t, invariant z t ->
    copied (z_spass z) + ahead z <= server_reserve P.
  Proof.
    intros z t I. pose proof (ok_sizes P ok). destruct I. unfold server_reserve.
    destruct (p_server P) eqn:E.
    - fold alpha. unfold pass_ok in *. destruct (z_spass z); simpl in *; lia.
    - destruct (i_server0 eq_refl) as [H1 H2]. rewrite H2. simpl. lia.
  Qed.

  (* Lemma 12: what the server drew beyond its passes, with copies in progress, is at most R. *)
  Theorem lemma_12 : forall t, picks_up_to P X t ->
    let z := at_time P X t steps in
    0 <= ahead z /\ copied (z_spass z) + ahead z <= server_reserve P.
  Proof.
    intros t Hp z. pose proof (invariant_at t Hp) as I. split.
    - destruct I. unfold z. lia.
    - apply (server_reserve_covers _ t I).
  Qed.

  (* Lemma 2. At the end of an instant: f(t) >= b(t) >= 0. *)
  Theorem lemma_2 : forall t, t <= x_end X ->
    gc_in_time_up_to X t ->           (* no GC deadline is missed up to t *)
    picks_up_to P X t ->              (* no victim had more than v valid pages *)
    pending P X t <= free_pages P X t /\ 0 <= pending P X t.
  Proof.
    intros t Hend Hin Hp. pose proof (invariant_at t Hp) as I.
    pose proof alpha_positive as Ha. pose proof (ok_C2 P ok) as HC2. fold alpha in HC2.
    pose proof (server_reserve_covers _ t I) as HR. destruct I as [I1 [I2 I2'] I3 I4 I5 I6 I7].
    split; [|destruct (pending_at t) as [l [r [Hm ->]]]; apply (pending_bounds l r t Hm)].
    unfold free_pages, pending. set (z := at_time P X t steps) in *.
    pose proof (A_of_several_writers t) as HA. set (u := t - g_D (p_g P)) in *.
    assert (HK : arrived u / alpha <= z_K z).
    { destruct (Z.le_gt_cases (arrived u / alpha) 0) as [Hk|Hk]; [lia|].
      set (k := arrived u / alpha) in *.
      assert (Hku : alpha * k <= arrived u) by (apply Z.mul_div_le; lia).
      pose proof (ok_collection P ok) as Hg. unfold collection_ok in Hg.
      assert (Hue : arrived u <= arrived (x_end X)) by (apply arrived_mono; unfold u; lia).
      destruct (R1_all P X rules k ltac:(lia) ltac:(fold alpha; lia)) as [m [Hm Hc]].
      destruct (R1_released P X rules m k Hm Hc) as [_ [Hrel Hdue]]. fold alpha in Hrel.
      assert (Hru : j_rel (jb m) <= u).
      { destruct (Z.le_gt_cases (j_rel (jb m)) u) as [|Hgt]; [assumption|].
        assert (arrived u <= arrived (j_rel (jb m) - 1)) by (apply arrived_mono; lia). lia. }
      assert (Hd : j_due (jb m) <= t) by (unfold u in *; lia).
      assert (Hf : finished steps m (j_due (jb m)) = true).
      { apply Hin; auto. unfold is_gc. rewrite Hc. reflexivity. }
      apply (over_counts m k t Hc).
      destruct (finished_step _ _ _ Hf) as [s [Hs1 [Hs2 [Hs3 Hs4]]]].
      apply (finished_intro _ _ _ s); auto; lia. }
    assert (HaK : arrived u - alpha + 1 <= alpha * z_K z).
    { pose proof (Z.div_mod (arrived u) alpha ltac:(lia)).
      pose proof (Z.mod_pos_bound (arrived u) alpha ltac:(lia)).
      assert (alpha * (arrived u / alpha) <= alpha * z_K z) by (apply Z.mul_le_mono_nonneg_l; lia).
      lia. }
    assert (Hcop : copied (z_pass z) <= p_v P).
    { pose proof (ok_sizes P ok). destruct (z_pass z); simpl in *; lia. }
    lia.
  Qed.

  (* So every program finds its pages: f is not below what is drawn when it begins. *)
  Theorem pages_suffice : forall l s r, steps = l ++ s :: r ->
    s_st s <= x_end X -> gc_in_time_up_to X (s_st s) -> picks_up_to P X (s_st s) ->
    drawn s <= z_f (run l) \/ s_en s = s_st s.
  Proof.
    intros l s r Hs Hend Hin Hp.
    destruct (Z.eq_dec (s_en s) (s_st s)) as [|Hlong]; [right; assumption|left].
    destruct (lemma_2 (s_st s) Hend Hin Hp) as [H1 H2].
    pose proof (step_order l s r Hs) as [Ho1 [Ho2 Ho3]].
    unfold free_pages, pending in *.
    assert (Hz : at_time P X (s_st s) steps = begin (run l) s).
    { pose proof (moment_at_step l s r Hs) as [_ [Hm1 _]].
      assert (Hm : moment (l ++ [s]) r (s_st s)).
      { split; [rewrite Hs, <- app_assoc; reflexivity|]. split.
        - intros x Hx. apply in_app_or in Hx. destruct Hx as [Hx|[<-|[]]]; [apply Hm1; assumption|lia].
        - intros x Hx. specialize (Ho3 x Hx). lia. }
      destruct (at_time_moment (s_st s) (l ++ [s]) r Hm) as [[_ Hf]|[l' [s' [Heq [_ [Hz _]]]]]].
      - intros x Hx. specialize (Ho3 x Hx). lia.
      - assert (s_en s <= s_st s); [|lia]. apply Hf. apply in_or_app. right. left. reflexivity.
      - apply app_inj_tail in Heq. destruct Heq as [-> ->]. assumption. }
    rewrite Hz in *.
    assert (Hb : z_f (begin (run l) s) = z_f (run l) - drawn s).
    { unfold Trace.begin. destruct (j_class (jb (s_job s))); reflexivity. }
    lia.
  Qed.

  (* Lemma 3 in a trace: a victim chosen at t, no request being late up to t. *)
  Theorem victims_are_cheap : forall l s r val, steps = l ++ s :: r -> s_act s = APick val ->
    requests_in_time_up_to X (s_st s) -> val <= p_v P.
  Proof.
    intros l s r val Hs Hact Hin.
    pose proof (moment_at_step l s r Hs) as Hm.
    destruct (pending_bounds l (s :: r) (s_st s) Hm) as [_ HW]. specialize (HW Hin).
    pose proof (prefix_rule l s r Hs) as Hr. unfold Trace.step_rule in Hr. rewrite Hact in Hr.
    pose proof (ok_sizes P ok) as Hz.
    destruct Hr as [Hmn [_ [_ [_ [_ [_ [_ Hr]]]]]]].
    assert (Hfin : forall o, z_f (run l) - (arrived (s_st s) - z_c (run l)) < p_H P ->
      o <= ind (p_server P) -> R4_victim P (z_f (run l)) o val -> val <= p_v P).
    { intros o HR3 Ho [bl [Hb Hf]].
      destruct (lemma_3 (p_PP P) (p_N P) (p_Lam P) (p_H P) (pending_pages P) (p_v P) (p_server P) o
        (z_f (run l)) (arrived (s_st s) - z_c (run l)) bl val) as [_ Hres]; auto; try lia.
      - apply (ok_C3 P ok).
      - apply (ok_C4 P ok). }
    destruct (j_class (jb (s_job s))) as [i|k|j|] eqn:Ec.
    - destruct Hr as [_ [[Hr|[k [Hr _]]] _]]; discriminate.
    - destruct Hr as [_ [_ [HR3 [_ [_ Hv]]]]]. refine (Hfin _ HR3 _ Hv).
      unfold under_way, ind. destruct (z_spass (run l)) eqn:Eq; [|destruct (p_server P); lia].
      destruct (p_server P) eqn:Esrv; [lia|exfalso].
      assert (Hns : forall l0, (exists r0, steps = l0 ++ r0) -> z_spass (run l0) = None).
      { induction l0 as [|x l0 IH] using rev_ind; intros [r0 H0]; [reflexivity|].
        assert (H0' : steps = l0 ++ x :: r0) by (rewrite H0, <- app_assoc; reflexivity).
        rewrite run_snoc. pose proof (prefix_rule _ _ _ H0') as Hrx. unfold Trace.step_rule in Hrx.
        assert (Hx : (s_job x < n)%nat) by apply Hrx.
        specialize (IH (ex_intro _ (x :: r0) H0')).
        unfold Trace.finish, Trace.begin. destruct (j_class (jb (s_job x))) eqn:Ex; simpl;
          try (destruct (s_act x); simpl; assumption).
        destruct (server_jobs P X rules _ _ Hx Ex). congruence. }
      rewrite (Hns l (ex_intro _ (s :: r) Hs)) in Eq. discriminate.
    - destruct Hr as [_ [_ [_ [HR3 [_ Hv]]]]]. refine (Hfin _ HR3 _ Hv).
      destruct (server_jobs P X rules _ _ Hmn Ec) as [Hsv _]. rewrite Hsv.
      unfold under_way, ind. destruct (z_pass (run l)); lia.
    - destruct Hr as [_ [Hr|[k [Hr _]]]]; discriminate.
  Qed.
End Reserve.
