/// What an encoder is told of the size of its stream.
package struct BitRates: Sendable, Hashable {
    /// Target in bits per second.
    package var bitrate: Int64
    /// Peak in bits per second; 0: ``bitrate``.
    package var maxBitrate: Int64
    /// Rate buffer in bits; 0: none.
    package var bufferSize: Int64

    package init(bitrate: Int64, maxBitrate: Int64 = 0, bufferSize: Int64 = 0) {
        self.bitrate = bitrate
        self.maxBitrate = maxBitrate
        self.bufferSize = bufferSize
    }

    /// No less than either, in each of the three.
    package func bounding(_ other: BitRates) -> BitRates {
        BitRates(
            bitrate: max(self.bitrate, other.bitrate), maxBitrate: max(self.maxBitrate, other.maxBitrate),
            bufferSize: max(self.bufferSize, other.bufferSize))
    }
}
