/// The message type id.
///
/// Spec: RTMP 1.0 §5.4, §6.2, §7.1.
package struct RTMPMessageType: RawRepresentable, Sendable, Hashable {
    package let rawValue: UInt8

    package init(rawValue: UInt8) { self.rawValue = rawValue }

    package static let setChunkSize = RTMPMessageType(rawValue: 1)
    package static let abort = RTMPMessageType(rawValue: 2)
    package static let acknowledgement = RTMPMessageType(rawValue: 3)
    package static let userControl = RTMPMessageType(rawValue: 4)
    package static let windowAcknowledgementSize = RTMPMessageType(rawValue: 5)
    package static let setPeerBandwidth = RTMPMessageType(rawValue: 6)
    package static let audio = RTMPMessageType(rawValue: 8)
    package static let video = RTMPMessageType(rawValue: 9)
    package static let dataAMF3 = RTMPMessageType(rawValue: 15)
    package static let sharedObjectAMF3 = RTMPMessageType(rawValue: 16)
    package static let commandAMF3 = RTMPMessageType(rawValue: 17)
    package static let dataAMF0 = RTMPMessageType(rawValue: 18)
    package static let sharedObjectAMF0 = RTMPMessageType(rawValue: 19)
    package static let commandAMF0 = RTMPMessageType(rawValue: 20)
    package static let aggregate = RTMPMessageType(rawValue: 22)

    /// False for types above 22, the last defined one: the byte stream is misread.
    package var isPossible: Bool { self.rawValue <= 22 }

    /// True for types 1 to 6, which control the connection.
    package var isControl: Bool { (1...6).contains(self.rawValue) }
}
