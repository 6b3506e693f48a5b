/// An item of a source's coded video, with program time instead of the source's own time, for output without decoding
/// (passthrough).
package enum ProgramPacket: Sendable {
    case configuration(CodecParameters)
    /// A coded frame and its presentation time, in nanoseconds of program time. The packet keeps its own timestamps.
    case picture(CodedPacket, pts: Int64)
    /// The publication has ended.
    case end
}
