"""The meaning of expressions and clauses: values computed by hand from the language specification. Each member is one way in which a text could be silently misunderstood: precedence, signs
of div, mod and rem, ranges that descend or are empty, slices, enumerations, default and named arguments, the order of assignments, events at one time."""
import math
import unittest

from runs import simulate

P = "parameter Real x = 3, y = -2, z = 7; parameter Integer i = 7, j = -2, k = 3; parameter Boolean a = true, b = false;"


def B(condition):
    return f"(if {condition} then 1 else 0)"


# Declarations, an expression, its value.
EXPRESSIONS = [
    (P,"-x^2",-9),(P,"2^(-1)",.5),(P,"x/y*z",-10.5),(P,"x-y-z",-2),(P,B("not a == b"),1),
    (P,B("not (a == b)"),1),(P,B("not a == a"),0),
    (P,"mod(i,j)",-1),(P,"rem(i,j)",1),(P,"div(i,j)",-3),(P,"mod(-i,k)",2),(P,"rem(-i,k)",-1),(P,"div(-i,k)",-2),(P,"i/j",-3.5),(P,"mod(-3.5,2)",.5),(P,"rem(-3.5,2)",-1.5),(P,"div(-3.5,2)",-1),
    (P,"integer(-3.5)",-4),(P,"floor(-3.5)",-4),(P,"ceil(-3.5)",-3),(P,"sign(-0.1)",-1),(P,"sign(0)",0),(P,"abs(j)",2),
    (P,"sum({i,j,k})",8),(P,"product({i,j,k})",-42),(P,"max({i,j,k})",7),(P,"min({1.5,x,y})",-2),(P,"max([1,2;5,4])",5),(P,"sum([1,2;5,4])",12),
    (P,"{n^2 for n in 3:-1:1}",[9,4,1]),(P,"sum(n for n in 5:-2:0)",9),(P,"sum(n for n in 1:0)",0),(P,"product(n for n in 1:0)",1),
    (P,"sum(n*m for n in 1:3, m in 1:2)",18),(P,"vector([1;2;3])",[1,2,3]),(P,"scalar({{5}})",5),(P,"cross({1,2,3},{4,5,6})",[-3,6,-3]),(P,"skew({1,2,3})*{4,5,6}",[-3,6,-3]),
    (P,"outerProduct({1,2},{3,4})*{1,1}",[7,14]),(P,"diagonal({1,2})*{3,4}",[3,8]),(P,"symmetric([1,2;9,4])*{1,1}",[3,6]),(P,"transpose([1,2;3,4])*{1,0}",[1,2]),
    (P,"cat(1,{1,2},{3})",[1,2,3]),(P,"cat(2,[1;2],[3;4])*{1,10}",[31,42]),(P,"[1,2;3,4]*{1,1}",[3,7]),(P,"{1,1}*[1,2;3,4]",[4,6]),(P,"{1,2}*{3,4}",11),(P,"[1,2;3,4]^2*{1,0}",[7,15]),
    (P,"[1,2;3,4].*[2,2;2,2]*{1,0}",[2,6]),(P,"{1,2}.^{2,3}",[1,8]),(P,"2 .^ {1,2}",[2,4]),(P,"{4,9}./{2,3}",[2,3]),(P,"{1,2} .+ 1",[2,3]),(P,"1 .- {1,2}",[0,-1]),
    (P,"linspace(1,2,3)",[1,1.5,2]),(P,"fill(2,3)",[2,2,2]),(P,"ones(2)*3",[3,3]),(P,"zeros(2)",[0,0]),(P,"identity(2)*{3,4}",[3,4]),(P,"ndims([1,2;3,4])",2),(P,"size([1,2,3;4,5,6])",[2,3]),(P,"size(fill(1,2,0),2)",0),
    (P,"sum(fill(1.0,0))",0),(P,"{if n>2 then n else -n for n in 1:3}",[-1,-2,3]),(P,"array(1,2,3)",[1,2,3]),(P,"matrix({1,2})*{3}",[3,6]),
    (P,"if a then 1 elseif b then 2 else 3",1),(P,B("a and b or a"),1),(P,B("a or b and b"),1),(P,B("1 < 2 and 3 >= 3"),1),(P,B("x <> y"),1),
    (P,"1e2+1E-2",100.01),(P,"atan2(1,-1)",3*3.141592653589793/4),(P,"semiLinear(x,2,5)",6),(P,"semiLinear(y,2,5)",-10),(P,"homotopy(4,5)",4),(P,"smooth(1,x)",3),
    (P,"noEvent(x)",3),(P,"2*3^2",18),(P,"2^3*2",16),(P,"(-2)^2",4),(P,"-2^2",-4),(P,"+x",3),(P,"x^y",1/9),(P,"exp(1)^0",1),(P,"log10(1000)",3),
    ("type E=enumeration(p,q,r);","Integer(E.r)",3),("type E=enumeration(p,q,r);","sum(Integer(e) for e in E)",6),("type E=enumeration(p,q,r);","sum(Integer(e) for e in E.q:E.r)",5),
    ("type E=enumeration(p,q,r); parameter Real t[E]={1,2,3};","t[E.q]",2),("type E=enumeration(p,q,r);",B("E.p < E.q"),1),("type E=enumeration(p,q,r);",B("max(E.p,E.q)==E.q"),1),
    ("parameter Real m[3,2]=[1,2;3,4;5,6];","m[2,:]",[3,4]),("parameter Real m[3,2]=[1,2;3,4;5,6];","m[:,2]",[2,4,6]),("parameter Real m[3,2]=[1,2;3,4;5,6];","m[end,end]",6),("parameter Real m[3,2]=[1,2;3,4;5,6];","m[{1,3},1]",[1,5]),("parameter Real m[3,2]=[1,2;3,4;5,6];","m[2:end,1]",[3,5]),("parameter Real m[3,2]=[1,2;3,4;5,6];","m[3:-2:1,1]",[5,1]),
    ("parameter Real v[:]={1,2,3};","v[end-1]",2),("parameter Real v[Boolean]={4,5};","v[true]",5),
    ("record R Real a[2]; Real b=3; end R; parameter R r0(a={1,2});","r0.a*{1,1}+r0.b",6),("record R Real a[2]; Real b=3; end R; parameter R r0[2](each a={1,2}, b={5,6});","r0[2].b+r0[1].a[2]",8),
    ("record R Real a=1; Real b=3; end R; parameter R r0=R(b=7);","r0.a*10+r0.b",17),
    ("function f input Real a; input Real b=2*a; input Real c=a+b; output Real y; algorithm y:=100*a+10*b+c; end f;","f(1)",123),
    ("function f input Real a; input Real b=2*a; input Real c=a+b; output Real y; algorithm y:=100*a+10*b+c; end f;","f(1,c=9)",129),
    ("function f input Real a; input Real b=2*a; input Real c=a+b; output Real y; algorithm y:=100*a+10*b+c; end f;","f(b=5,a=1)",156),
    ("function f input Integer n; output Integer y; algorithm if n<=1 then y:=1; else y:=n*f(n-1); end if; end f;","f(5)",120),
    ("function f input Integer n; output Integer y; algorithm y:=0; for k in 1:n loop if k==3 then break; end if; y:=y+k; end for; end f;","f(9)",3),
    ("function f input Integer n; output Integer y; algorithm y:=0; for k in n:-1:1 loop y:=10*y+k; end for; end f;","f(3)",321),
    ("function f input Integer n; output Integer y; algorithm y:=0; while true loop y:=y+1; if y>n then return; end if; end while; end f;","f(9)",10),
    ("function f input Real x[:]; output Real y=0; algorithm for e in x loop y:=y*10+e; end for; end f;","f({1,2,3})",123),
    ("function f input Real x[:]; output Real y; protected Real w[size(x,1)]=2*x; algorithm y:=sum(w); end f;","f({1,2,3})",12),
    ("function f input Real x; output Real y; output Real z; algorithm y:=x; z:=2*x; end f;","f(3)",3),
    ("function f input Real x; output Real y[2]; algorithm y[1]:=x; y[2]:=y[1]*2; end f;","f(3)",[3,6]),
    ("function f input Integer n; output Integer y; algorithm y:=0; for i in 1:n, j in 1:i loop y:=y+1; end for; end f;","f(3)",6),
]

# Name, model, values at the end of a run to 1.
MODELS = [
    ('pre init',"model M Integer n(start=5,fixed=true); Integer m(start=3); equation when time>0.5 then n=pre(n)+1; end when; when initial() then m=pre(m)+10; end when; end M;",dict(n=6,m=13)),
    ('sample',"model M Integer n(start=0,fixed=true),m(start=0,fixed=true); equation when sample(0.15,0.2) then n=pre(n)+1; end when; when sample(-0.1,0.25) then m=pre(m)+1; end when; end M;",dict(n=5,m=4)),
    ('sample0',"model M Integer n(start=0,fixed=true); equation when sample(0,0.25) then n=pre(n)+1; end when; end M;",dict(n=5)),
    ('vec',"model M Integer n(start=0,fixed=true); Boolean a=time>0.3,b=time>0.6; equation when {a,b} then n=pre(n)+1; end when; end M;",dict(n=2)),
    ('vecor',"model M Integer n(start=0,fixed=true); equation when time>0.3 or time>0.6 then n=pre(n)+1; end when; end M;",dict(n=1)),
    ('vec same',"model M Integer n(start=0,fixed=true); equation when {time>0.3,time>=0.3} then n=pre(n)+1; end when; end M;",dict(n=1)),
    ('elsewhen',"model M Integer n(start=0,fixed=true); equation when time>0.3 then n=pre(n)+1; elsewhen time>0.3 then n=pre(n)+100; elsewhen time>0.6 then n=pre(n)+10; end when; end M;",dict(n=11)),
    ('reinit2',"model M Real x(start=0,fixed=true),y(start=0,fixed=true); equation der(x)=1; der(y)=1; when x>=0.5 then reinit(x,0); reinit(y,10); end when; when y>10.2 then reinit(y,0); end when; end M;",dict(x=0.5-0.0,y=0.3)),
    ('alg order',"model M Real x,y; algorithm x:=1; y:=x; x:=2; end M;",dict(x=2,y=1)),
    ('alg when',"model M Integer n(start=0,fixed=true); Integer k(start=0,fixed=true); algorithm when sample(0.1,0.2) then n:=n+1; k:=k+n; end when; end M;",dict(n=5,k=15)),
    ('alg if',"model M Real x; algorithm if time<0.5 then x:=1; elseif time<0.8 then x:=2; else x:=3; end if; end M;",dict(x=3)),
    ('alg for',"model M Real x[3]; algorithm for i in 1:3 loop x[i]:=i^2; end for; x[2]:=x[3]+1; end M;",{'x[1]':1,'x[2]':10,'x[3]':9}),
    ('alg while',"model M Integer n; algorithm n:=0; while n<5 loop n:=n+2; end while; end M;",dict(n=6)),
    ('alg start',"model M Real x(start=5); algorithm if time>2 then x:=1; end if; end M;",dict(x=5)),
    ('delay',"model M Real x=time; Real y=delay(x,0.25); Real z=delay(sin(x),0.5,1); end M;",dict(y=.75,z=math.sin(.5))),
    ('spd',"model M Real y0,y1; equation (y0,y1)=spatialDistribution(time,0,4*time,true,{0.0,1.0},{0.0,0.0}); end M;",dict(y1=.75)),
    ('each',"model M model A parameter Real p[2]={1,2}; Real x=p[1]+p[2]; end A; A a[2](each p={3,4}); A b[2](p=[1,2;5,6]); end M;",{'a[2].x':7,'b[1].x':3,'b[2].x':11}),
    ('unit mod',"model M type T=Real(unit=\"K\",start=300); T a(fixed=true); equation der(a)=0; end M;",dict(a=300)),
    ('terminal',"model M Integer n(start=0,fixed=true); equation when terminal() then n=pre(n)+1; end when; end M;",dict(n=1)),
    ('initial false',"model M Real x; equation x = if initial() then 5 else 1; end M;",dict(x=1)),
    ('nested when cond',"model M Boolean b(start=false,fixed=true); Integer n(start=0,fixed=true); equation when time>0.2 then b=not pre(b); end when; when b then n=pre(n)+1; end when; end M;",dict(n=1,b=1)),
    ('pre of bool',"model M Boolean b=time>0.5; Boolean c(start=true); discrete Real t(start=0,fixed=true); equation c=pre(b); when edge(b) then t=time; end when; end M;",dict(c=1,t=.5)),
    ('int div', "model M Integer i=7; Real x=i/2; Integer j=div(i,2); end M;",dict(x=3.5,j=3)),
    ('ev floor', "model M Real x(start=0,fixed=true); equation der(x)=floor(4*time); end M;",dict(x=(0+1+2+3)/4)),
    ('ev mod', "model M Real x(start=0,fixed=true); equation der(x)=mod(time,0.3); end M;",dict(x=.3*.3/2*3+.1*.1/2)),
    ('ev integer', "model M Integer k=integer(3*time-1); end M;",dict(k=2)),
    ('ev sign', "model M Real x(start=0,fixed=true); equation der(x)=sign(time-0.25); end M;",dict(x=.5)),
    ('if eq', "model M parameter Boolean b=false; Real x; equation if b then x=1; else x=2; end if; end M;",dict(x=2)),
    ('for eq', "model M Real x[3]; equation for i in 3:-1:1 loop x[i]=i*10; end for; end M;",{'x[3]':30}),
    ('str', 'model M function len input String s; output Integer n; algorithm n:=if s=="a\\"b\\\\" then 1 else 0; end len; Integer n=len("a\\"b"+"\\\\"); end M;',dict(n=1)),
    ('String', 'model M function eq input String a,b; output Integer n; algorithm n:=if a==b then 1 else 0; end eq; Integer n=eq(String(3),"3"); Integer m=eq(String(true),"true"); Integer k=eq(String(2.5),"2.5"); Integer q=eq(String(7,minimumLength=4,leftJustified=false),"   7"); end M;',dict(n=1,m=1,k=1,q=1)),
    ('func assert', 'model M function f input Real x; output Real y; algorithm assert(x<2,"big"); y:=x; end f; Real y=f(time*1.5); end M;',dict(y=1.5)),
    ('protected redecl','model M model A replaceable type T=Real; T x=1; end A; A a(redeclare type T=Real(start=3)); end M;',{'a.x':1}),
    ('cond comp','model M parameter Boolean b=false; model A Real x=1; end A; A a if not b; A c if b; end M;',{'a.x':1}),
    ('inner outer','model M inner Real g=9; model B outer Real g; Real y=g+1; end B; B b; end M;',{'b.y':10}),
    ('extends mod','model A parameter Real p=1; Real x=p; end A; model M extends A(p=3); end M;',{'x':3}),
    ('final','model M model A parameter Real p=1; parameter Real q=2*p; Real x=q; end A; A a(p=5); end M;',{'a.x':10}),
    ('mult when algo','model M Real t1(start=0,fixed=true); algorithm when time>0.2 then t1:=1; end when; when time>0.4 then t1:=t1+1; end when; end M;',{'t1':2}),
    ('nonfixed start',"model M Real x(start=2); equation der(x)=0; end M;",dict(x=2)),
    ('der expr',"model M Real x=sin(time); Real y=der(x); Real z=der(x*x); end M;",dict(y=math.cos(1),z=2*math.sin(1)*math.cos(1))),
    ('array der',"model M Real x[2](start={1,2},each fixed=true); equation der(x)=-x; end M;",{'x[2]':2*math.exp(-1)}),
    ('min/max fn',"model M Real x=max(time,0.5)+min(2,time); end M;",dict(x=2)),
    ('alg discrete',"model M discrete Real d(start=0); Real x=d+1; algorithm when time>=0.5 then d:=pre(d)+2; end when; end M;",dict(x=3)),
    ('interp pre in cond',"model M Integer s(start=1,fixed=true); equation s = if pre(s)==1 and time>0.3 then 2 elseif pre(s)==2 and time>0.6 then 3 else pre(s); end M;",dict(s=3)),
]


class Meaning(unittest.TestCase):
    def compare(self, found, wanted, what):
        self.assertLess(abs(found - wanted), 1e-6 * (1 + abs(wanted)), what)

    def test_expressions(self):
        for declared, expression, value in EXPRESSIONS:
            values = value if isinstance(value, list) else [value]
            size = f"[{len(values)}]" if isinstance(value, list) else ""
            run = simulate(f"model M {declared} Real r{size} = {expression}; end M;", intervals=1)
            with self.subTest(expression=expression, declared=declared):
                self.assertEqual(run.status, 0, run.words)
                for k, wanted in enumerate(values):
                    self.compare(run.end(f"r[{k + 1}]" if size else "r"), wanted, k)

    def test_models(self):
        for name, text, values in MODELS:
            run = simulate(text, stop_time=1)
            with self.subTest(name=name):
                self.assertEqual(run.status, 0, run.words)
                for variable, wanted in values.items():
                    self.compare(run.end(variable), wanted, variable)


if __name__ == "__main__":
    unittest.main()
