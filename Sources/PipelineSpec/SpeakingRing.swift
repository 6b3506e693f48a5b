import MediaTypes

/// The ring around the pane of a source that speaks.
package struct SpeakingRing: Sendable, Hashable {
    /// Width in pixels (1…64); in a small pane at most a quarter of its shorter side. Default 6.
    package var width = 6
    /// Color of the ring. Default a bright green, `#22c55e`.
    package var color = Color(red: 0x22, green: 0xc5, blue: 0x5e)

    package init() {}

    static let rule = ObjectRule(
        "the ring around the pane of a source that speaks", SpeakingRing(),
        [
            Field(
                "width", \.width, .integer(1...64),
                "width in pixels; in a small pane at most a quarter of its shorter side"),
            Field("color", \.color, .color, "color of the ring"),
        ])
}
