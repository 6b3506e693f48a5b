/// Bit rate settings of an encoder.
package struct BitRates: Sendable, Hashable {
    /// Target bit rate in bits per second.
    package var bitrate: Int64
    /// Peak bit rate in bits per second; 0: same as ``bitrate``.
    package var maxBitrate: Int64
    /// Size of the rate control buffer in bits; 0: none.
    package var bufferSize: Int64

    package init(bitrate: Int64, maxBitrate: Int64 = 0, bufferSize: Int64 = 0) {
        self.bitrate = bitrate
        self.maxBitrate = maxBitrate
        self.bufferSize = bufferSize
    }

    /// Returns, for each of the three members, the larger of both values.
    package func bounding(_ other: BitRates) -> BitRates {
        BitRates(
            bitrate: max(self.bitrate, other.bitrate), maxBitrate: max(self.maxBitrate, other.maxBitrate),
            bufferSize: max(self.bufferSize, other.bufferSize))
    }
}
