extension Pipeline {
    /// What the coded pictures of every rendition say of the program, in `user_data_unregistered` messages.
    package struct SEI: Sendable, Equatable {
        /// Most bytes of ``extraInfo``.
        package static let longestText = 4096

        /// Who lies where in the picture is part of it. Default true.
        package var layout = true
        /// 32 hexadecimal digits.
        package var payloadUUID = "3f1b7c02a4de4d6c9e5b0a7788c2f901"
        /// Milliseconds from one message to the next (0…60,000); 0: only with IDR pictures and events. Default 1,000.
        package var intervalMs = 1_000
        /// Every IDR picture has one. Default true.
        package var followIDR = true
        /// `app_data` of those that carry no event; up to ``longestText`` bytes.
        package var extraInfo = ""

        package init() {}

        /// The 16 bytes of ``payloadUUID``.
        package var identifier: [UInt8] {
            let digits = self.payloadUUID.utf8.compactMap { Character(Unicode.Scalar($0)).hexDigitValue }
            return stride(from: 0, to: digits.count - 1, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
        }

        static let rule = ObjectRule(
            "what the coded pictures of every rendition say of the program", SEI(),
            [
                Field("layout", \.layout, .boolean, "canvas and regions (uid, place, order, volume) are part of it"),
                Field(
                    "payloadUuid", \.payloadUUID,
                    .text("32 hexadecimal digits", pattern: "^[0-9A-Fa-f]{32}$") { text in
                        text.utf8.count == 32
                            && text.utf8.allSatisfy { Character(Unicode.Scalar($0)).hexDigitValue != nil }
                    }, "the UUID that players know it by"),
                Field(
                    "intervalMs", \.intervalMs, .integer(0...60_000),
                    "milliseconds from one to the next; 0: only with IDR pictures and events"),
                Field("followIdr", \.followIDR, .boolean, "every IDR picture has one"),
                Field(
                    "extraInfo", \.extraInfo,
                    .text("up to \(Self.longestText) bytes of text", pattern: "^.{0,\(Self.longestText)}$") { text in
                        text.utf8.count <= Self.longestText
                    }, "app_data of those that carry no event"),
            ])
    }
}
