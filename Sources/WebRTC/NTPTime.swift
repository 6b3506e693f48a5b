/// Conversions between nanoseconds and NTP time stamps: seconds since 1900 in units of 2⁻³² s (RFC 3550 §4).
package enum NTPTime {
    private static let second: Int64 = 1_000_000_000
    /// Seconds from 1900 to 1970.
    private static let unixEpoch: Int64 = 2_208_988_800

    /// Returns an NTP time stamp as nanoseconds since 1900, 0 to 2³² s.
    package static func nanoseconds(_ ntp: UInt64) -> Int64 {
        let fraction = ((ntp & 0xFFFF_FFFF) * UInt64(self.second)) >> 32
        return Int64(ntp >> 32) * self.second + Int64(fraction)
    }

    /// Returns nanoseconds since 1900 as an NTP time stamp.
    ///
    /// - Parameter nanoseconds: Since 1900. Values below 0 and from 2³² s on wrap.
    package static func timestamp(_ nanoseconds: Int64) -> UInt64 {
        let seconds = nanoseconds / self.second
        let rest = nanoseconds % self.second
        guard rest >= 0 else { return self.timestamp(nanoseconds &+ 0x1_0000_0000 &* self.second) }
        // Rounded up, so that converting back gives the same nanosecond.
        let fraction = ((UInt64(rest) << 32) + UInt64(self.second) - 1) / UInt64(self.second)
        return UInt64(truncatingIfNeeded: seconds) << 32 | fraction
    }

    /// Nanoseconds since 1970 for nanoseconds since 1900.
    package static func unix(_ nanoseconds: Int64) -> Int64 { nanoseconds &- self.unixEpoch * self.second }

    /// The middle 32 bits of a time stamp, in units of 1/65,536 s.
    package static func middle(_ ntp: UInt64) -> UInt32 { UInt32(truncatingIfNeeded: ntp >> 16) }

    /// The nanoseconds of a difference of middle bits. Negative differences, which clock steps cause, are 0.
    static func nanoseconds(units: UInt32) -> Int64 {
        let signed = Int64(Int32(bitPattern: units))
        return (max(0, signed) * self.second) >> 16
    }

    /// A duration in units of 1/65,536 s, limited to 0 to 65,535 s.
    static func units(nanoseconds: Int64) -> UInt32 {
        let bounded = min(max(0, nanoseconds), 65_535 * self.second)
        return UInt32(bounded / self.second) << 16 | UInt32(((bounded % self.second) << 16) / self.second)
    }
}
