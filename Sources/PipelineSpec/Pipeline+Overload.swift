extension Pipeline {
    /// When a live room begins to leave things out because its machine cannot keep up.
    package struct Overload: Sendable, Equatable {
        /// How far the pictures may be behind before anything is left out, in milliseconds (100…2,000). Default 400.
        package var maxLagMs = 400

        package init() {}

        static let rule = ObjectRule(
            "when a live room begins to leave things out because its machine cannot keep up", Overload(),
            [
                Field(
                    "maxLagMs", \.maxLagMs, .integer(100...2_000),
                    "milliseconds the pictures may be behind before anything is left out")
            ])
    }
}
