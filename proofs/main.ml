(* Reads cases, one JSON object a line, and writes each with what the extracted program says of it.
   A case has, in this order: whether rows are striped over the cluster (superblock), t_r, t_w, t_e,
   t_d and m_c, o of (29), N, P, the ratio in tenths, s, requests (writes, sequential, pages, T, D,
   J), D_g, and the server's share in thousandths. What stands behind is replaced:
   - numbers: H, F, v, alpha, C_g, q_g, q_s, or none where the blocks do not suffice
   - verdict: accepted, rejected, overloaded, or no room
   - at: of a rejection, a length that fails, and its slack
   - tightest: a length with the least slack of those up to the longest deadline, and that slack *)
open Decide

let rec pos n = if n = 1 then XH else if n land 1 = 1 then XI (pos (n lsr 1)) else XO (pos (n lsr 1))
let z n = if n = 0 then Z0 else if n > 0 then Zpos (pos n) else Zneg (pos (-n))
let rec int_of_pos = function XH -> 1 | XO p -> 2 * int_of_pos p | XI p -> (2 * int_of_pos p) + 1
let int = function Z0 -> 0 | Zpos p -> int_of_pos p | Zneg p -> -int_of_pos p

(* The integers behind a key, up to the next key. *)
let field line key =
  let key = "\"" ^ key ^ "\":" in
  let rec find i =
    if i + String.length key > String.length line then failwith ("no " ^ key)
    else if String.sub line i (String.length key) = key then i + String.length key
    else find (i + 1)
  in
  let start = find 0 in
  let stop = try String.index_from line start '"' with Not_found -> String.length line in
  let text = String.map (function ('0' .. '9' | '-') as c -> c | _ -> ' ') (String.sub line start (stop - start)) in
  List.map int_of_string (List.filter (( <> ) "") (String.split_on_char ' ' text))

let rec requests row s = function
  | w :: q :: n :: t :: d :: j :: rest ->
      let there = pages_there row (q = 1) (z s) (z n) in
      { w_writes = w = 1; w_pages = there; w_T = z t; w_D = z d; w_J = z j } :: requests row s rest
  | [] -> []
  | _ -> failwith "requests"

let list numbers = "[" ^ String.concat "," (List.map string_of_int numbers) ^ "]"

let answer line =
  let one key = List.hd (field line key) in
  let row = one "superblock" = 1 in
  let t_r, t_w, t_e, t_d, m_c =
    match field line "times" with [ a; b; c; d; e ] -> (a, b, c, d, e) | _ -> failwith "times"
  in
  let s = one "chips" and blocks = one "blocks" and pages = one "pages" in
  let rs = requests row s (field line "requests") in
  let mapped = one "tenths" * blocks * pages / 10 in
  let device = { t_r = z t_r; t_w = z t_w; t_e = z t_e; t_d = z t_d; m_c = z m_c } in
  let read = t_r + (t_d * (1 + one "others")) in
  let mapped = if row then s * mapped else mapped in
  match
    build row device (z s) (z read) rs (z (one "gc")) (z (one "server")) [] (z blocks) (z pages) (z mapped)
  with
  | None -> {|"numbers":[],"verdict":"no room","at":[],"tightest":[]|}
  | Some p ->
      let rs = p.p_rs and g = p.p_g in
      let numbers = [ p.p_H; f_of p; p.p_v; g.g_alpha; g.g_C; g.g_q; g.g_qs ] in
      let verdict, at =
        match decide rs g with
        | Accepted -> ("accepted", [])
        | Overloaded -> ("overloaded", [])
        | Rejected l -> ("rejected", [ int l; int (slack rs g l) ])
      in
      let tight = match tightest rs g with None -> [] | Some (l, x) -> [ int l; int x ] in
      Printf.sprintf {|"numbers":%s,"verdict":"%s","at":%s,"tightest":%s|}
        (list (List.map int numbers)) verdict (list at) (list tight)

let () =
  try
    while true do
      let line = input_line stdin in
      let server = {|"server":|} in
      let rec find i = if String.sub line i (String.length server) = server then i else find (i + 1) in
      let rec stop i = match line.[i] with ',' | '}' -> i | _ -> stop (i + 1) in
      let case = String.sub line 0 (stop (find 0)) in
      print_endline (case ^ "," ^ answer case ^ "}")
    done
  with End_of_file -> ()
