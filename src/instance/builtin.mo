type StateSelect = enumeration(never, avoid, default, prefer, always);
type AssertionLevel = enumeration(warning, error);

operator record Complex "Complex number"
  Real re "Real part";
  Real im "Imaginary part";
  encapsulated operator 'constructor'
    import Complex;
    function fromReal
      input Real re;
      input Real im = 0;
      output Complex result(re = re, im = im);
    algorithm
    end fromReal;
  end 'constructor';
  encapsulated operator function '0'
    import Complex;
    output Complex c;
  algorithm
    c := Complex(0, 0);
  end '0';
  encapsulated operator '-'
    import Complex;
    function negate
      input Complex c1;
      output Complex c2;
    algorithm
      c2 := Complex(-c1.re, -c1.im);
    end negate;
    function subtract
      input Complex c1;
      input Complex c2;
      output Complex c3;
    algorithm
      c3 := Complex(c1.re - c2.re, c1.im - c2.im);
    end subtract;
  end '-';
  encapsulated operator '*'
    import Complex;
    function multiply
      input Complex c1;
      input Complex c2;
      output Complex c3;
    algorithm
      c3 := Complex(c1.re*c2.re - c1.im*c2.im, c1.re*c2.im + c1.im*c2.re);
    end multiply;
    function scalarProduct
      input Complex c1[:];
      input Complex c2[size(c1, 1)];
      output Complex c3;
    algorithm
      c3 := Complex(0, 0);
      for i in 1:size(c1, 1) loop
        c3 := Complex(c3.re + c1[i].re*c2[i].re - c1[i].im*c2[i].im, c3.im + c1[i].re*c2[i].im + c1[i].im*c2[i].re);
      end for;
    end scalarProduct;
  end '*';
  encapsulated operator function '+'
    import Complex;
    input Complex c1;
    input Complex c2;
    output Complex c3;
  algorithm
    c3 := Complex(c1.re + c2.re, c1.im + c2.im);
  end '+';
  encapsulated operator function '/'
    import Complex;
    input Complex c1;
    input Complex c2;
    output Complex c3;
  algorithm
    c3 := Complex((c1.re*c2.re + c1.im*c2.im)/(c2.re^2 + c2.im^2), (c1.im*c2.re - c1.re*c2.im)/(c2.re^2 + c2.im^2));
  end '/';
  encapsulated operator function '^'
    import Complex;
    input Complex c1;
    input Complex c2;
    output Complex c3;
  protected
    Real lnz = 0.5*log(c1.re*c1.re + c1.im*c1.im);
    Real phi = atan2(c1.im, c1.re);
    Real re = lnz*c2.re - phi*c2.im;
    Real im = lnz*c2.im + phi*c2.re;
  algorithm
    c3 := Complex(exp(re)*cos(im), exp(re)*sin(im));
  end '^';
  encapsulated operator function '=='
    import Complex;
    input Complex c1;
    input Complex c2;
    output Boolean result;
  algorithm
    result := c1.re == c2.re and c1.im == c2.im;
  end '==';
  encapsulated operator function '<>'
    import Complex;
    input Complex c1;
    input Complex c2;
    output Boolean result;
  algorithm
    result := c1.re <> c2.re or c1.im <> c2.im;
  end '<>';
end Complex;

package Modelica "What small models use of the standard library, where it is not at hand"
  package Constants
    final constant Real pi = 3.14159265358979323846;
    final constant Real e = 2.71828182845904523536;
    final constant Real D2R = pi/180;
    final constant Real R2D = 180/pi;
    final constant Real gamma = 0.57721566490153286061;
    final constant Real eps = 2.220446049250313e-16;
    final constant Real small = 2.2250738585072014e-308;
    final constant Real inf = 1.7976931348623157e308;
    final constant Integer Integer_inf = 2147483647;
    final constant Real c = 299792458;
    final constant Real g_n = 9.80665;
    final constant Real G = 6.67430e-11;
    final constant Real q = 1.602176634e-19;
    final constant Real F = q*N_A;
    final constant Real h = 6.62607015e-34;
    final constant Real k = 1.380649e-23;
    final constant Real R = k*N_A;
    final constant Real sigma = 2*pi^5*k^4/(15*h^3*c^2);
    final constant Real N_A = 6.02214076e23;
    final constant Real mu_0 = 1.25663706212e-6;
    final constant Real epsilon_0 = 1/(mu_0*c*c);
    final constant Real T_zero = -273.15;
  end Constants;
  package Math
    function sin input Real u; output Real y; external "builtin" y = sin(u); end sin;
    function cos input Real u; output Real y; external "builtin" y = cos(u); end cos;
    function tan input Real u; output Real y; external "builtin" y = tan(u); end tan;
    function asin input Real u; output Real y; external "builtin" y = asin(u); end asin;
    function acos input Real u; output Real y; external "builtin" y = acos(u); end acos;
    function atan input Real u; output Real y; external "builtin" y = atan(u); end atan;
    function atan2 input Real u1; input Real u2; output Real y; external "builtin" y = atan2(u1, u2); end atan2;
    function sinh input Real u; output Real y; external "builtin" y = sinh(u); end sinh;
    function cosh input Real u; output Real y; external "builtin" y = cosh(u); end cosh;
    function tanh input Real u; output Real y; external "builtin" y = tanh(u); end tanh;
    function asinh input Real u; output Real y; external "builtin" y = asinh(u); end asinh;
    function acosh input Real u; output Real y; external "builtin" y = acosh(u); end acosh;
    function atanh input Real u; output Real y; external "builtin" y = atanh(u); end atanh;
    function exp input Real u; output Real y; external "builtin" y = exp(u); end exp;
    function log input Real u; output Real y; external "builtin" y = log(u); end log;
    function log10 input Real u; output Real y; external "builtin" y = log10(u); end log10;
  end Math;
  package ComplexMath
    final constant Complex j = Complex(0, 1);
    function real
      input Complex c;
      output Real r;
    algorithm
      r := c.re;
    end real;
    function imag
      input Complex c;
      output Real r;
    algorithm
      r := c.im;
    end imag;
    function 'abs'
      input Complex c;
      output Real result;
    algorithm
      result := sqrt(c.re^2 + c.im^2);
    end 'abs';
    function arg
      input Complex c;
      input Real phi0 = 0;
      output Real phi;
    algorithm
      phi := atan2(c.im, c.re);
    end arg;
    function conj
      input Complex c1;
      output Complex c2;
    algorithm
      c2 := Complex(c1.re, -c1.im);
    end conj;
    function fromPolar
      input Real len;
      input Real phi;
      output Complex c;
    algorithm
      c := Complex(len*cos(phi), len*sin(phi));
    end fromPolar;
    function exp
      input Complex c1;
      output Complex c2;
    algorithm
      c2 := Complex(Modelica.Math.exp(c1.re)*cos(c1.im), Modelica.Math.exp(c1.re)*sin(c1.im));
    end exp;
  end ComplexMath;
  package Units
    package SI
      type Angle = Real(quantity = "Angle", unit = "rad", displayUnit="deg");
      type SolidAngle = Real(quantity = "SolidAngle", unit = "sr");
      type Length = Real(quantity = "Length", unit = "m");
      type PathLength = Real(quantity = "Length", unit = "m");
      type Position = Real(quantity = "Length", unit = "m");
      type Distance = Real(quantity = "Length", unit = "m", min=0);
      type Breadth = Real(quantity = "Length", unit = "m", min=0);
      type Height = Real(quantity = "Length", unit = "m", min=0);
      type Thickness = Real(quantity = "Length", unit = "m", min=0);
      type Radius = Real(quantity = "Length", unit = "m", min=0);
      type Diameter = Real(quantity = "Length", unit = "m", min=0);
      type Area = Real(quantity = "Area", unit = "m2");
      type Volume = Real(quantity = "Volume", unit = "m3");
      type Time = Real(quantity = "Time", unit = "s");
      type Duration = Real(quantity = "Duration", unit = "s");
      type AngularVelocity = Real(quantity = "AngularVelocity", unit = "rad/s");
      type AngularAcceleration = Real(quantity = "AngularAcceleration", unit = "rad/s2");
      type AngularJerk = Real(quantity = "AngularJerk", unit = "rad/s3");
      type AngularFrequency = Real(quantity = "AngularFrequency", unit = "rad/s");
      type Velocity = Real(quantity = "Velocity", unit = "m/s");
      type Acceleration = Real(quantity = "Acceleration", unit = "m/s2");
      type Jerk = Real(quantity = "Jerk", unit = "m/s3");
      type Period = Real(quantity = "Period", unit = "s");
      type Frequency = Real(quantity = "Frequency", unit = "Hz");
      type WaveNumber = Real(quantity = "WaveNumber", unit = "m-1");
      type Damping = Real(quantity = "Damping", unit = "s-1");
      type DampingCoefficient = Real(quantity = "DampingCoefficient", unit = "s-1");
      type Mass = Real(quantity = "Mass", unit = "kg", min=0);
      type Density = Real(quantity = "Density", unit = "kg/m3", min=0);
      type SpecificVolume = Real(quantity = "SpecificVolume", unit = "m3/kg");
      type MomentOfInertia = Real(quantity = "MomentOfInertia", unit = "kg.m2");
      type Inertia = Real(quantity = "MomentOfInertia", unit = "kg.m2");
      type Momentum = Real(quantity = "Momentum", unit = "kg.m/s");
      type Force = Real(quantity = "Force", unit = "N");
      type Weight = Real(quantity = "Weight", unit = "N");
      type TranslationalSpringConstant = Real(quantity = "TranslationalSpringConstant", unit = "N/m");
      type TranslationalDampingConstant = Real(quantity = "TranslationalDampingConstant", unit = "N.s/m");
      type RotationalSpringConstant = Real(quantity = "RotationalSpringConstant", unit = "N.m/rad");
      type RotationalDampingConstant = Real(quantity = "RotationalDampingConstant", unit = "N.m.s/rad");
      type Torque = Real(quantity = "Torque", unit = "N.m");
      type MomentOfForce = Real(quantity = "MomentOfForce", unit = "N.m");
      type Impulse = Real(quantity = "Impulse", unit = "N.s");
      type AngularMomentum = Real(quantity = "AngularMomentum", unit = "kg.m2/s");
      type Pressure = Real(quantity = "Pressure", unit = "Pa", displayUnit="bar");
      type AbsolutePressure = Real(quantity = "Pressure", unit = "Pa", min=0, displayUnit="bar");
      type PressureDifference = Real(quantity = "Pressure", unit = "Pa");
      type Stress = Real(quantity = "Stress", unit = "Pa");
      type Work = Real(quantity = "Work", unit = "J");
      type Energy = Real(quantity = "Energy", unit = "J");
      type Power = Real(quantity = "Power", unit = "W");
      type Efficiency = Real(quantity = "Efficiency", unit = "1", min=0);
      type MassFlowRate = Real(quantity = "MassFlowRate", unit = "kg/s");
      type VolumeFlowRate = Real(quantity = "VolumeFlowRate", unit = "m3/s");
      type Temperature = Real(quantity = "ThermodynamicTemperature", unit = "K", min=0, start=288.15, nominal=300, displayUnit="degC");
      type TemperatureDifference = Real(quantity = "ThermodynamicTemperature", unit = "K");
      type TemperatureSlope = Real(quantity = "TemperatureSlope", unit = "K/s");
      type LinearTemperatureCoefficient = Real(quantity = "LinearTemperatureCoefficient", unit = "1/K");
      type Heat = Real(quantity = "Energy", unit = "J");
      type HeatFlowRate = Real(quantity = "Power", unit = "W");
      type HeatFlux = Real(quantity = "HeatFlux", unit = "W/m2");
      type ThermalConductivity = Real(quantity = "ThermalConductivity", unit = "W/(m.K)");
      type CoefficientOfHeatTransfer = Real(quantity = "CoefficientOfHeatTransfer", unit = "W/(m2.K)");
      type ThermalResistance = Real(quantity = "ThermalResistance", unit = "K/W");
      type ThermalConductance = Real(quantity = "ThermalConductance", unit = "W/K");
      type HeatCapacity = Real(quantity = "HeatCapacity", unit = "J/K");
      type SpecificHeatCapacity = Real(quantity = "SpecificHeatCapacity", unit = "J/(kg.K)");
      type Entropy = Real(quantity = "Entropy", unit = "J/K");
      type SpecificEntropy = Real(quantity = "SpecificEntropy", unit = "J/(kg.K)");
      type InternalEnergy = Real(quantity = "InternalEnergy", unit = "J");
      type Enthalpy = Real(quantity = "Enthalpy", unit = "J");
      type SpecificEnergy = Real(quantity = "SpecificEnergy", unit = "J/kg");
      type SpecificEnthalpy = Real(quantity = "SpecificEnthalpy", unit = "J/kg");
      type SpecificInternalEnergy = Real(quantity = "SpecificInternalEnergy", unit = "J/kg");
      type EnthalpyFlowRate = Real(quantity = "EnthalpyFlowRate", unit = "W");
      type DynamicViscosity = Real(quantity = "DynamicViscosity", unit = "Pa.s", min=0);
      type KinematicViscosity = Real(quantity = "KinematicViscosity", unit = "m2/s", min=0);
      type ElectricCurrent = Real(quantity = "ElectricCurrent", unit = "A");
      type Current = Real(quantity = "ElectricCurrent", unit = "A");
      type ElectricCharge = Real(quantity = "ElectricCharge", unit = "C");
      type Charge = Real(quantity = "ElectricCharge", unit = "C");
      type ElectricPotential = Real(quantity = "ElectricPotential", unit = "V");
      type Voltage = Real(quantity = "ElectricPotential", unit = "V");
      type PotentialDifference = Real(quantity = "ElectricPotential", unit = "V");
      type ElectricFieldStrength = Real(quantity = "ElectricFieldStrength", unit = "V/m");
      type Capacitance = Real(quantity = "Capacitance", unit = "F", min=0);
      type Permittivity = Real(quantity = "Permittivity", unit = "F/m", min=0);
      type CurrentDensity = Real(quantity = "CurrentDensity", unit = "A/m2");
      type MagneticFieldStrength = Real(quantity = "MagneticFieldStrength", unit = "A/m");
      type MagneticPotentialDifference = Real(quantity = "MagneticPotentialDifference", unit = "A");
      type MagneticFluxDensity = Real(quantity = "MagneticFluxDensity", unit = "T");
      type MagneticFlux = Real(quantity = "MagneticFlux", unit = "Wb");
      type Inductance = Real(quantity = "Inductance", unit = "H");
      type SelfInductance = Real(quantity = "SelfInductance", unit = "H", min=0);
      type MutualInductance = Real(quantity = "MutualInductance", unit = "H");
      type Resistance = Real(quantity = "Resistance", unit = "Ohm");
      type Resistivity = Real(quantity = "Resistivity", unit = "Ohm.m");
      type Conductance = Real(quantity = "Conductance", unit = "S");
      type Conductivity = Real(quantity = "Conductivity", unit = "S/m");
      type Reluctance = Real(quantity = "Reluctance", unit = "H-1");
      type Permeance = Real(quantity = "Permeance", unit = "H");
      type Impedance = Real(quantity = "Impedance", unit = "Ohm");
      type Reactance = Real(quantity = "Reactance", unit = "Ohm");
      type Admittance = Real(quantity = "Admittance", unit = "S");
      type ActivePower = Real(quantity = "ActivePower", unit = "W");
      type ApparentPower = Real(quantity = "ApparentPower", unit = "V.A");
      type ReactivePower = Real(quantity = "ReactivePower", unit = "var");
      type PowerFactor = Real(quantity = "PowerFactor", unit = "1");
      type AmountOfSubstance = Real(quantity = "AmountOfSubstance", unit = "mol", min=0);
      type MolarMass = Real(quantity = "MolarMass", unit = "kg/mol", min=0);
      type MolarVolume = Real(quantity = "MolarVolume", unit = "m3/mol");
      type MassFraction = Real(quantity = "MassFraction", unit = "1", min=0);
      type MoleFraction = Real(quantity = "MoleFraction", unit = "1", min=0);
      type Concentration = Real(quantity = "Concentration", unit = "mol/m3");
      type MolarFlowRate = Real(quantity = "MolarFlowRate", unit = "mol/s");
      type DimensionlessRatio = Real(quantity = "DimensionlessRatio", unit = "1");
      type ReynoldsNumber = Real(quantity = "ReynoldsNumber", unit = "1");
      type NusseltNumber = Real(quantity = "NusseltNumber", unit = "1");
      type PrandtlNumber = Real(quantity = "PrandtlNumber", unit = "1");
      type LossFactor = Real(quantity = "LossFactor", unit = "1");
      operator record ComplexVoltage = Complex(re(unit = "V"), im(unit = "V"));
      operator record ComplexCurrent = Complex(re(unit = "A"), im(unit = "A"));
      operator record ComplexPower = Complex(re(unit = "W"), im(unit = "var"));
      operator record ComplexImpedance = Complex(re(unit = "Ohm"), im(unit = "Ohm"));
    end SI;
    package NonSI
      type Temperature_degC = Real(quantity = "ThermodynamicTemperature", unit = "degC");
      type Angle_deg = Real(quantity = "Angle", unit = "deg");
      type AngularVelocity_rpm = Real(quantity = "AngularVelocity", unit = "rev/min");
      type Time_hour = Real(quantity = "Time", unit = "h");
      type Time_minute = Real(quantity = "Time", unit = "min");
      type Pressure_bar = Real(quantity = "Pressure", unit = "bar");
    end NonSI;
  end Units;
  package SIunits
    extends Modelica.Units.SI;
  end SIunits;
end Modelica;
