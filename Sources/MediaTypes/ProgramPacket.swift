/// A source's items on program time: the coded form of what its decoder receives.
package enum ProgramPacket: Sendable {
    case configuration(CodecParameters)
    /// A coded frame and its presentation time, in nanoseconds of program time.
    case picture(CodedPacket, pts: Int64)
    /// The publication has ended.
    case end
}
