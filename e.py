import json,subprocess,random
R='/work/wt/base/target/release/rtflash'
r=random.Random(5)
worst=0
for case in range(40):
    N=r.choice([48,64,96,128]);P=r.choice([16,32]);lam=r.choice([0.5,0.6,0.7,0.8,0.85,0.9])
    k=r.choice([1,1,2,2,3])
    d=dict(chips=1,chips_per_channel=1,blocks_per_chip=N,pages_per_block=P,page_size=4096,logical_ratio=lam,page_read="50us",page_program="500us",block_erase="5ms",page_transfer="40us")
    L=int(N*P*lam)
    parts=[r.random()+0.1 for _ in range(k)];s=sum(parts)
    tasks=[dict(name='t%d'%i,write=dict(pages=r.choice([1,2,4,8]),period="%dms"%r.randint(40,400),access='sequential'),data_pages=max(8,int(L*p/s*0.98))) for i,p in enumerate(parts)]
    json.dump(dict(device=d,tasks=tasks),open('s.json','w'))
    p=subprocess.run([R,'size','s.json','--analysis','stripe','--algorithm','global','--format','json'],capture_output=True,text=True)
    if p.returncode: continue
    c=json.loads(p.stdout)['cost']['clusters'][0]
    if not c['in_rings']: continue
    wr=sum(t['write']['pages']/(int(t['write']['period'][:-2])/1e3) for t in tasks)
    T=int(20*N*P/wr)+1
    res={}
    for ag in('worst','fresh'):
        q=subprocess.run([R,'exec','s.json','--analysis','stripe','--algorithm','global','--duration','%ds'%T,'--aging',ag,'--pattern','sequential','--format','json'],capture_output=True,text=True)
        if q.returncode not in(0,1): print(q.stderr[:200]); break
        a=json.loads(q.stdout)
        res[ag]=[x for x in a['clusters']][0].get('write_amplification')
    print(N,P,lam,k,'rings',c['in_rings']['write_amplification'],'anywhere %.2f'%c['anywhere']['write_amplification']['most'],'bound %.2f'%c['write_amplification'],res,T,flush=True)
