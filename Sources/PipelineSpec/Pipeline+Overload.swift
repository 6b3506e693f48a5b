extension Pipeline {
    /// The threshold from which a live room reduces its work because its machine is overloaded.
    package struct Overload: Sendable, Equatable {
        /// How far the video may lag behind real time before the room reduces its work, in milliseconds (100…2,000).
        /// Default 400.
        package var maxLagMs = 400

        package init() {}

        static let rule = ObjectRule(
            "when a live room starts to reduce its work because its machine is overloaded", Overload(),
            [
                Field(
                    "maxLagMs", \.maxLagMs, .integer(100...2_000),
                    "milliseconds that the video may lag behind real time before the room reduces its work")
            ])
    }
}
