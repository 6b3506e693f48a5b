extension Pipeline {
    /// Settings for data about the program in the video of every rendition, as `user_data_unregistered` SEI messages.
    package struct SEI: Sendable, Equatable {
        /// Maximum length of ``extraInfo`` in bytes.
        package static let longestText = 4096

        /// Whether messages contain the layout: canvas and regions. Default true.
        package var layout = true
        /// UUID of the messages: 32 hexadecimal digits.
        package var payloadUUID = "3f1b7c02a4de4d6c9e5b0a7788c2f901"
        /// Milliseconds between messages (0…60,000); 0: only with key frames (IDR) and events. Default 1,000.
        package var intervalMs = 1_000
        /// Whether every key frame (IDR) has a message. Default true.
        package var followIDR = true
        /// Text for the member `app_data` of messages without an event; up to ``longestText`` bytes.
        package var extraInfo = ""

        package init() {}

        /// The 16 bytes of ``payloadUUID``.
        package var identifier: [UInt8] {
            let digits = self.payloadUUID.utf8.compactMap { Character(Unicode.Scalar($0)).hexDigitValue }
            return stride(from: 0, to: digits.count - 1, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
        }

        static let rule = ObjectRule(
            "SEI messages in the video of every rendition", SEI(),
            [
                Field(
                    "layout", \.layout, .boolean,
                    "whether messages contain the canvas and its regions (uid, position, stacking order, volume)"),
                Field(
                    "payloadUuid", \.payloadUUID,
                    .text("32 hexadecimal digits", pattern: "^[0-9A-Fa-f]{32}$") { text in
                        text.utf8.count == 32
                            && text.utf8.allSatisfy { Character(Unicode.Scalar($0)).hexDigitValue != nil }
                    }, "UUID by which players recognize the messages"),
                Field(
                    "intervalMs", \.intervalMs, .integer(0...60_000),
                    "milliseconds between messages; 0: only with key frames (IDR) and events"),
                Field("followIdr", \.followIDR, .boolean, "whether every key frame (IDR) has a message"),
                Field(
                    "extraInfo", \.extraInfo,
                    .text("up to \(Self.longestText) bytes of text", pattern: "^.{0,\(Self.longestText)}$") { text in
                        text.utf8.count <= Self.longestText
                    }, "app_data of messages without an event"),
            ])
    }
}
