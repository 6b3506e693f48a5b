/// An item that a source's decoder receives, in coded form and with program time instead of the source's own time.
package enum ProgramPacket: Sendable {
    case configuration(CodecParameters)
    /// A coded frame and its presentation time, in nanoseconds of program time.
    case picture(CodedPacket, pts: Int64)
    /// The publication has ended.
    case end
}
