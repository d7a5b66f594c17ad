(* Section 2.7: the tightest length among those up to the longest relative deadline, and the numbers
   of Section 2.2 from a device and its tasks: what is extracted beside the decision. *)
From Coq Require Import ZArith List Lia Bool.
From Rtflash Require Import Sums Qpa Demand Victims Sporadic Trace Reserve Costs Server Edf Closing.
Import ListNotations.
Open Scope Z_scope.

(* ⌊(1 - U_s)L⌋ - dbf(L) - B *)
Definition slack_with (rs : list request) (g : collection) (b L : Z) : Z :=
  share g * L / 1000 - dbf rs g L - b.
Definition slack (rs : list request) (g : collection) (L : Z) : Z :=
  slack_with rs g (blocking rs g L) L.

Lemma slack_fits : forall rs g L, 0 <= slack rs g L <-> fits rs g L.
Proof.
  intros rs g L. unfold slack, slack_with, fits. split; intros H.
  - pose proof (Z.mul_div_le (share g * L) 1000 ltac:(lia)). lia.
  - assert (dbf rs g L + blocking rs g L <= share g * L / 1000); [|lia].
    apply Z.div_le_lower_bound; lia.
Qed.

(* The shortest length, or one near it, from which on up to t no demand is added. It is not
   trusted: what has another demand is not used. *)
Definition step_at (rs : list request) (g : collection) (t : Z) : Z :=
  Z.max
    (maxl (fun r => if window r <=? t then t - (t - window r) mod r_T r else 0) rs)
    (if writes rs && (g_D g <=? t) then
       maxl (fun r => if 0 <? r_w r
         then t - Z.min ((t - g_D g + r_J r) mod r_T r) (t - g_D g) else 0) rs
     else 0).

Section Search.
  Variable rs : list request.
  Variable g : collection.
  Hypothesis requests : forall r, In r rs -> request_ok r.
  Hypothesis gc : collection_ok g.
  Variables d e b : Z.     (* a segment and its B *)

  Definition plateau (t : Z) : Z :=
    let p := Z.min t (Z.max d (step_at rs g t)) in
    if dbf rs g p =? dbf rs g t then p else t.

  Definition better (best : Z * Z) (p : Z) : Z * Z :=
    if slack_with rs g b p <? snd best then (p, slack_with rs g b p) else best.

  Definition search_body (s : Z * (Z * Z)) : (Z * (Z * Z)) + (Z * Z) :=
    let t := fst s in
    if t <? d then inr (snd s)
    else
      let p := plateau t in
      let best := better (snd s) p in
      let h := if 0 <? share g then cdiv (1000 * (dbf rs g p + b + snd best)) (share g) else p in
      inl (Z.min h p - 1, best).

  Let known (s : Z * (Z * Z)) : Prop :=
    (forall L, d <= L <= e -> fst s < L -> snd (snd s) <= slack_with rs g b L).

  Lemma plateau_spec : forall t, d <= t ->
    d <= plateau t <= t /\ dbf rs g (plateau t) = dbf rs g t.
  Proof.
    intros t Ht. unfold plateau.
    destruct (Z.eqb_spec (dbf rs g (Z.min t (Z.max d (step_at rs g t)))) (dbf rs g t)); lia.
  Qed.

  Lemma better_spec : forall best p,
    snd (better best p) <= snd best /\ snd (better best p) <= slack_with rs g b p /\
    (better best p = best \/ better best p = (p, slack_with rs g b p)).
  Proof.
    intros best p. unfold better. destruct (Z.ltb_spec (slack_with rs g b p) (snd best)); simpl;
      repeat split; auto; lia.
  Qed.

  Lemma search_round : forall s, known s ->
    match search_body s with
    | inl s' => known s' /\ fst s' < fst s
    | inr r => forall L, d <= L <= e -> snd r <= slack_with rs g b L
    end.
  Proof.
    unfold known, search_body. intros [t best] Hk. cbn [fst snd] in *.
    destruct (Z.ltb_spec t d) as [Htd|Htd]; cbn [fst snd]; [intros; apply Hk; lia|].
    destruct (plateau_spec t Htd) as [Hp1 Hp2]. set (p := plateau t) in *.
    destruct (better_spec best p) as [Hb1 [Hb2 _]]. set (best' := better best p) in *.
    split; [|lia]. intros L HL Hlt.
    destruct (Z.le_gt_cases L t) as [HLt|HLt]; [|specialize (Hk L HL HLt); lia].
    assert (Hd : dbf rs g L <= dbf rs g p).
    { rewrite Hp2. apply (dbf_nondecreasing rs g requests gc). assumption. }
    unfold collection_ok in gc. assert (Hs : 0 <= share g) by (unfold share; lia).
    destruct (Z.le_gt_cases p L) as [HpL|HpL].
    - assert (share g * p / 1000 <= share g * L / 1000) by (apply Z.div_le_mono; nia).
      unfold slack_with in *. lia.
    - revert Hlt. destruct (Z.ltb_spec 0 (share g)); intros Hlt; [|lia].
      set (k := dbf rs g p + b + snd best') in *.
      pose proof (cdiv_ge (1000 * k) (share g) ltac:(lia)).
      assert (share g * cdiv (1000 * k) (share g) <= share g * L)
        by (apply Z.mul_le_mono_nonneg_l; lia).
      assert (k <= share g * L / 1000) by (apply Z.div_le_lower_bound; lia).
      unfold slack_with, k in *. lia.
  Qed.

  Definition search (best : Z * Z) : (Z * (Z * Z)) + (Z * Z) :=
    rounds search_body (Z.to_pos (e - d + 2)) (e, best).

  Lemma search_spec : forall best, d <= e ->
    exists r, search best = inr r /\ forall L, d <= L <= e -> snd r <= slack_with rs g b L.
  Proof.
    intros best Hde. unfold search.
    pose proof (rounds_spec search_body (fun s => known s /\ d - 1 <= Z.max (fst s) (d - 1))
      (fun r => forall L, d <= L <= e -> snd r <= slack_with rs g b L)
      (fun s => Z.max (fst s) (d - 1))) as H.
    assert (H0 : forall s, known s /\ d - 1 <= Z.max (fst s) (d - 1) ->
      match search_body s with
      | inl s' => (known s' /\ d - 1 <= Z.max (fst s') (d - 1)) /\
                  Z.max (fst s') (d - 1) < Z.max (fst s) (d - 1)
      | inr r => forall L, d <= L <= e -> snd r <= slack_with rs g b L end).
    { intros s [Hs _]. pose proof (search_round s Hs) as Hr. unfold search_body in *.
      destruct (Z.ltb_spec (fst s) d); [assumption|]. destruct Hr. split; [split; [assumption|lia]|lia]. }
    specialize (H H0 (Z.to_pos (e - d + 2)) (e, best)).
    assert (Hk : known (e, best) /\ d - 1 <= Z.max (fst (e, best)) (d - 1)).
    { split; [|simpl; lia]. intros L HL Hlt. simpl in Hlt. lia. }
    specialize (H Hk). destruct (rounds search_body (Z.to_pos (e - d + 2)) (e, best)) as [s|r].
    - exfalso. simpl in H. rewrite Z2Pos.id in H by lia. lia.
    - exists r. auto.
  Qed.

  (* What it finds has the slack that it says, in the segment or as before. *)
  Lemma search_sound : forall best r, d <= e -> search best = inr r ->
    r = best \/ (d <= fst r <= e /\ snd r = slack_with rs g b (fst r)).
  Proof.
    intros best r Hde Hr. unfold search in Hr.
    set (Q := fun r : Z * Z => r = best \/ (d <= fst r <= e /\ snd r = slack_with rs g b (fst r))).
    assert (H : forall p s, fst s <= e /\ Q (snd s) ->
      match rounds search_body p s with inl s' => fst s' <= e /\ Q (snd s') | inr r => Q r end).
    { assert (Hb : forall s, fst s <= e /\ Q (snd s) ->
        match search_body s with inl s' => fst s' <= e /\ Q (snd s') | inr r => Q r end).
      { intros [t bst] [Ht HQ]. unfold search_body. simpl in *.
        destruct (Z.ltb_spec t d) as [|Htd]; [assumption|].
        destruct (plateau_spec t Htd) as [Hp1 _].
        destruct (better_spec bst (plateau t)) as [_ [_ [Hb|Hb]]].
        - rewrite Hb. split; [simpl; lia|assumption].
        - rewrite Hb. split; [simpl; lia|]. right. simpl. split; [lia|reflexivity]. }
      induction p; simpl; intros s Hs.
      - specialize (Hb s Hs). destruct (search_body s) as [s1|]; [|assumption].
        pose proof (IHp s1 Hb) as I1. destruct (rounds search_body p s1) as [s2|]; [|assumption].
        apply IHp. assumption.
      - pose proof (IHp s Hs) as I1. destruct (rounds search_body p s) as [s2|]; [|assumption].
        apply IHp. assumption.
      - apply Hb. assumption. }
    specialize (H (Z.to_pos (e - d + 2)) (e, best)). rewrite Hr in H. apply H.
    split; [simpl; lia|left; reflexivity].
  Qed.
End Search.

(* All segments, the last one being the longest relative deadline by itself. *)
Definition tightest_from (rs : list request) (g : collection) (last : Z) (ds : list Z)
  (best : Z * Z) : Z * Z :=
  fold_left (fun best x =>
    match search rs g x (segment_end (deadlines rs g) last x) (blocking rs g x) best with
    | inr r => if snd r <? snd best then r else best
    | inl _ => best
    end) ds best.

Definition tightest (rs : list request) (g : collection) : option (Z * Z) :=
  match deadlines rs g with
  | [] => None
  | x :: _ =>
      Some (tightest_from rs g (maxl (fun y => y) (deadlines rs g)) (deadlines rs g)
        (x, slack rs g x))
  end.

Section Tightest.
  Variable rs : list request.
  Variable g : collection.
  Hypothesis requests : forall r, In r rs -> request_ok r.
  Hypothesis gc : collection_ok g.

  Let ds := deadlines rs g.
  Let last := maxl (fun y => y) ds.

  Lemma segment_of_deadline : forall x, In x ds ->
    x <= segment_end ds last x <= last /\
    forall L, x <= L <= segment_end ds last x -> blocking rs g L = blocking rs g x.
  Proof.
    intros x Hx. pose proof (maxl_ge (fun y => y) ds x Hx) as Hm. simpl in Hm. fold last in Hm.
    unfold segment_end. pose proof (next_deadline_spec ds x) as Hn.
    destruct (next_deadline ds x) as [y|].
    - destruct Hn as [Hy [Hxy Hn]]. pose proof (maxl_ge (fun y => y) ds y Hy) as Hmy.
      simpl in Hmy. fold last in Hmy. split; [lia|]. intros L HL. symmetry.
      apply (blocking_constant rs g); [lia|]. intros z Hz Hc.
      specialize (Hn z Hz ltac:(lia)). lia.
    - split; [lia|]. intros L HL. symmetry. apply (blocking_constant rs g); [lia|].
      intros z Hz Hc. specialize (Hn z Hz). lia.
  Qed.

  Lemma tightest_from_spec : forall l best, (forall x, In x l -> In x ds) ->
    (exists x, In x ds /\ x <= fst best <= last /\ snd best = slack rs g (fst best)) ->
    let r := tightest_from rs g last l best in
    (exists x, In x ds /\ x <= fst r <= last /\ snd r = slack rs g (fst r)) /\
    snd r <= snd best /\
    forall x L, In x l -> x <= L <= segment_end ds last x -> snd r <= slack rs g L.
  Proof.
    induction l as [|x l IH]; intros best Hl Hbest; simpl.
    - split; [assumption|]. split; [lia|]. intros x L [].
    - assert (Hx : In x ds) by (apply Hl; left; reflexivity).
      destruct (segment_of_deadline x Hx) as [[Hs1 Hs2] Hblk].
      destruct (search_spec rs g requests gc x (segment_end ds last x) (blocking rs g x) best Hs1)
        as [r [Hr Hmin]].
      fold ds. rewrite Hr.
      set (best' := if snd r <? snd best then r else best).
      assert (Hb' : snd best' <= snd best /\ snd best' <= snd r).
      { unfold best'. destruct (Z.ltb_spec (snd r) (snd best)); lia. }
      assert (Hbest' : exists y, In y ds /\ y <= fst best' <= last /\ snd best' = slack rs g (fst best')).
      { unfold best'. destruct (Z.ltb_spec (snd r) (snd best)) as [Hlt|]; [|assumption].
        destruct (search_sound rs g x (segment_end ds last x) (blocking rs g x) best r Hs1 Hr)
          as [->|[H1 H2]]; [lia|].
        exists x. split; [assumption|]. split; [lia|]. rewrite H2. unfold slack.
        rewrite (Hblk (fst r) H1). reflexivity. }
      destruct (IH best') as [I1 [I2 I3]]; [intros; apply Hl; right; assumption|assumption|].
      split; [assumption|]. split; [lia|].
      intros y L [<-|Hy] HL; [|apply (I3 y L Hy HL)].
      unfold slack. rewrite (Hblk L HL). specialize (Hmin L HL). lia.
  Qed.

  (* The least slack among all lengths from the shortest to the longest relative deadline. *)
  Theorem tightest_correct :
    match tightest rs g with
    | None => deadlines rs g = []
    | Some (L, s) =>
        (exists x, In x ds /\ x <= L <= last) /\ s = slack rs g L /\
        forall K, (exists x, In x ds /\ x <= K) -> K <= last -> s <= slack rs g K
    end.
  Proof.
    pose proof tightest_from_spec as Hspec. unfold last, ds in *. clear last ds.
    unfold tightest. destruct (deadlines rs g) as [|x0 l0] eqn:E; [reflexivity|].
    rewrite <- E in *.
    assert (Hx0 : In x0 (deadlines rs g)) by (rewrite E; left; reflexivity).
    destruct (Hspec (deadlines rs g) (x0, slack rs g x0)) as [H1 [H2 H3]]; [auto| |].
    - exists x0. pose proof (maxl_ge (fun y => y) (deadlines rs g) x0 Hx0) as Hm. simpl in *.
      split; [assumption|]. split; [lia|reflexivity].
    - destruct (tightest_from rs g (maxl (fun y => y) (deadlines rs g)) (deadlines rs g)
        (x0, slack rs g x0)) as [L s] eqn:Et.
      simpl in *. destruct H1 as [x [Hx1 [Hx2 Hx3]]].
      split; [exists x; auto|]. split; [assumption|].
      intros K [y [Hy HyK]] HK.
      destruct (greatest_below (deadlines rs g) K y Hy HyK) as [w [Hw1 [Hw2 Hw3]]].
      apply (H3 w K Hw1). split; [assumption|]. unfold segment_end.
      pose proof (next_deadline_spec (deadlines rs g) w) as Hn.
      destruct (next_deadline (deadlines rs g) w) as [v|]; [|lia].
      destruct Hn as [Hv1 [Hv2 _]]. destruct (Z.le_gt_cases v K); [|lia].
      specialize (Hw3 v Hv1 ltac:(assumption)). lia.
  Qed.
End Tightest.

(* Pages of a request of n that can fall on the processor: n_c of Section 3 on a stripe's chip. *)
Definition pages_there (row sequential : bool) (s pages : Z) : Z :=
  if row then pages else if sequential then cdiv pages s else pages.

(* Where page p of a stripe is on its chip p mod s, no chip has more than n_c of n pages in a row,
   whatever their alignment. *)
Theorem n_c_sequential : forall s chip first n, 1 <= s -> 0 <= n ->
  countn (fun i => (first + Z.of_nat i) mod s =? chip) (Z.to_nat n) <= pages_there false true s n.
Proof.
  intros s chip first n Hs Hn. unfold pages_there.
  apply (countn_pigeon _ _ (fun i => Z.of_nat i / s)).
  - apply cdiv_nonneg; lia.
  - intros m Hm _. split; [apply Z.div_pos; lia|].
    apply Z.div_lt_upper_bound; [lia|]. pose proof (cdiv_ge n s ltac:(lia)). lia.
  - intros i j _ _ Hi Hj He. cbv beta in *. apply Z.eqb_eq in Hi. apply Z.eqb_eq in Hj.
    pose proof (Z.div_mod (Z.of_nat i) s ltac:(lia)) as Di.
    pose proof (Z.div_mod (Z.of_nat j) s ltac:(lia)) as Dj.
    pose proof (Z.mod_pos_bound (Z.of_nat i) s ltac:(lia)).
    pose proof (Z.mod_pos_bound (Z.of_nat j) s ltac:(lia)).
    pose proof (Z.div_mod (first + Z.of_nat i) s ltac:(lia)) as Ei.
    pose proof (Z.div_mod (first + Z.of_nat j) s ltac:(lia)) as Ej.
    rewrite He in Di. rewrite Hi in Ei. rewrite Hj in Ej.
    assert (Z.of_nat i - Z.of_nat j
      = s * ((first + Z.of_nat i) / s - (first + Z.of_nat j) / s)) by lia.
    set (e := (first + Z.of_nat i) / s - (first + Z.of_nat j) / s) in *.
    assert (e = 0) by nia. lia.
Qed.

(* (5) to (11), D_g given: the processor of a cluster, or None where the blocks do not suffice.
   Lam is that of the processor. *)
Definition build (row : bool) (d : device) (s cr' : Z) (rs : list demanded) (Dg us : Z)
  (sv : list served) (N Pages Lam : Z) : option processor :=
  let server := 0 <? us in
  let PP := if row then s * Pages else Pages in
  let written w := if w_writes w then w_pages w else 0 in
  let A := suml (fun w => cdiv (Dg + w_J w) (w_T w) * written w) rs in
  let W := suml (fun w => cdiv (w_D w) (w_T w) * written w) rs in
  let R := if server then PP + (if row then s else 1) - 1 else 0 in
  let H := A + PP - 1 + R in
  let F := not_eligible PP H W server in
  let v := Lam / (N - F) in
  let alpha := PP - v in
  if (F <? N) && (1 <=? alpha) && (0 <=? v) then
    let e := Stated Dg alpha H v us server sv in
    Some (if row then superblock d s cr' rs e false N Pages Lam
          else stripe d rs e false N Pages Lam)
  else None.

Theorem build_ok : forall row d s cr' rs Dg us sv N Pages Lam P,
  device_ok d -> 1 <= s -> t_r d + t_d d <= cr' -> (forall w, In w rs -> demanded_ok w) ->
  1 <= Dg -> 0 <= us <= 1000 ->
  (forall j, In j sv -> 0 <= sv_a j /\ 0 <= sv_r j /\ 0 <= sv_w j) -> 1 <= Pages ->
  build row d s cr' rs Dg us sv N Pages Lam = Some P -> parameters_ok P.
Proof.
  intros row d s cr' rs Dg us sv N Pages Lam P Hd Hs Hc Hrs HDg Hus Hsv HP Hb.
  unfold build in Hb.
  set (server := 0 <? us) in *. set (PP := if row then s * Pages else Pages) in *.
  set (A := suml (fun w => cdiv (Dg + w_J w) (w_T w) * (if w_writes w then w_pages w else 0)) rs) in *.
  set (W := suml (fun w => cdiv (w_D w) (w_T w) * (if w_writes w then w_pages w else 0)) rs) in *.
  set (R := if server then PP + (if row then s else 1) - 1 else 0) in *.
  destruct ((not_eligible PP (A + PP - 1 + R) W server <? N) &&
    (1 <=? PP - Lam / (N - not_eligible PP (A + PP - 1 + R) W server)) &&
    (0 <=? Lam / (N - not_eligible PP (A + PP - 1 + R) W server))) eqn:E; [|discriminate].
  apply andb_true_iff in E. destruct E as [E E3]. apply andb_true_iff in E. destruct E as [E1 E2].
  apply Z.ltb_lt in E1. apply Z.leb_le in E2. apply Z.leb_le in E3.
  injection Hb as Hb.
  assert (Hst : forall a h v, 1 <= a -> 0 <= v -> stated_ok (Stated Dg a h v us server sv)).
  { intros a h v Ha Hv. unfold stated_ok; simpl. repeat split; try lia; try (apply Hsv; assumption).
    unfold server. intros Hx. apply Z.ltb_lt in Hx. lia. }
  destruct row; subst P.
  - apply superblock_ok; try assumption; [apply Hst; assumption|].
    assert (HA : within_deadline (superblock d s cr' rs (Stated Dg
      (PP - Lam / (N - not_eligible PP (A + PP - 1 + R) W server)) (A + PP - 1 + R)
      (Lam / (N - not_eligible PP (A + PP - 1 + R) W server)) us server sv) false N Pages Lam) = A).
    { unfold within_deadline; simpl. clear. unfold A. induction rs as [|w l IH]; [reflexivity|].
      simpl. rewrite IH. f_equal; try (unfold superblock_request; destruct (w_writes w); simpl; lia). }
    assert (HW : pending_pages (superblock d s cr' rs (Stated Dg
      (PP - Lam / (N - not_eligible PP (A + PP - 1 + R) W server)) (A + PP - 1 + R)
      (Lam / (N - not_eligible PP (A + PP - 1 + R) W server)) us server sv) false N Pages Lam) = W).
    { unfold pending_pages; simpl. clear. unfold W. induction rs as [|w l IH]; [reflexivity|].
      simpl. rewrite IH. f_equal; try (unfold superblock_request; destruct (w_writes w); simpl; lia). }
    apply numbers_of_2_2; unfold F_of; rewrite ?HA, ?HW; try reflexivity; assumption.
  - apply stripe_ok; try assumption; [apply Hst; assumption|].
    assert (HA : within_deadline (stripe d rs (Stated Dg
      (PP - Lam / (N - not_eligible PP (A + PP - 1 + R) W server)) (A + PP - 1 + R)
      (Lam / (N - not_eligible PP (A + PP - 1 + R) W server)) us server sv) false N Pages Lam) = A).
    { unfold within_deadline; simpl. clear. unfold A. induction rs as [|w l IH]; [reflexivity|].
      simpl. rewrite IH. f_equal; try (unfold stripe_request; destruct (w_writes w); simpl; lia). }
    assert (HW : pending_pages (stripe d rs (Stated Dg
      (PP - Lam / (N - not_eligible PP (A + PP - 1 + R) W server)) (A + PP - 1 + R)
      (Lam / (N - not_eligible PP (A + PP - 1 + R) W server)) us server sv) false N Pages Lam) = W).
    { unfold pending_pages; simpl. clear. unfold W. induction rs as [|w l IH]; [reflexivity|].
      simpl. rewrite IH. f_equal; try (unfold stripe_request; destruct (w_writes w); simpl; lia). }
    apply numbers_of_2_2; unfold F_of; rewrite ?HA, ?HW; try reflexivity; assumption.
Qed.

(* From the device and the tasks to the promise. *)
Theorem built_and_accepted : forall row d s cr' rs Dg us sv N Pages Lam P X,
  device_ok d -> 1 <= s -> t_r d + t_d d <= cr' -> (forall w, In w rs -> demanded_ok w) ->
  1 <= Dg -> 0 <= us <= 1000 ->
  (forall j, In j sv -> 0 <= sv_a j /\ 0 <= sv_r j /\ 0 <= sv_w j) -> 1 <= Pages ->
  build row d s cr' rs Dg us sv N Pages Lam = Some P ->
  decide (p_rs P) (p_g P) = Accepted -> obeys P X -> promises_kept P X.
Proof.
  intros. apply accepted_is_in_time; try assumption.
  apply (build_ok row d s cr' rs Dg us sv N Pages Lam); assumption.
Qed.

(* The example of Section 8 in microseconds: t_r, t_w, t_e, t_d = 50, 500, 5000, 40, m_c = 4; 12
   pages of writes every 30 ms, 20 of reads every 36 ms; N = 1024, P = 256, D_g = 360 ms. *)
Definition section_8 (us : Z) : option processor :=
  build false (Device 50 500 5000 40 4) 2 210
    [Demanded true 12 30000 30000 0; Demanded false 20 36000 36000 0] 360000 us [] 1024 256 131072.
Definition numbers (p : option processor) : list Z :=
  match p with
  | None => []
  | Some P => [p_H P; F_of P; p_v P; g_alpha (p_g P); g_C (p_g P)]
  end.
Example section_8_numbers : numbers (section_8 0) = [399; 2; 128; 128; 75400] /\
  numbers (section_8 383) = [655; 4; 128; 128; 75400].
Proof. split; vm_compute; reflexivity. Qed.
Example section_8_verdict :
  match section_8 0 with
  | None => False
  | Some P => decide (p_rs P) (p_g P) = Accepted /\
              tightest (p_rs P) (p_g P) = Some (30000, 17080)
  end.
Proof. vm_compute. split; reflexivity. Qed.
Example section_8_server :
  match section_8 383, section_8 384 with
  | Some P, Some Q => decide (p_rs P) (p_g P) = Accepted /\ decide (p_rs Q) (p_g Q) <> Accepted
  | _, _ => False
  end.
Proof. vm_compute. split; [reflexivity|discriminate]. Qed.
