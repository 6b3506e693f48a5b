extension Pipeline {
    /// Settings of a job with the clock ``ClockMode/offline``.
    package struct Offline: Sendable, Equatable {
        /// How many of the job's threads that decode, scale and encode video work at the same time (1…64). The media
        /// does not depend on it. `nil`: no limit.
        package var threads: Int?

        package init() {}

        static let rule = ObjectRule(
            "settings of a job with the clock offline", Offline(),
            [
                Field(
                    optional: "threads", \.threads, .integer(1...64),
                    "maximum number of threads that decode, scale and encode video at the same time, encoders of larger renditions first; with the number of cores, a job ends soonest; the media is the same with every value"
                )
            ])
    }
}

extension PipelineRules {
    /// Checks that only an offline job has settings for one.
    func checkOffline(_ log: inout SpecLog) {
        guard self.pipeline.clock == .live, log.isValid("clock"), self.pipeline.offline.threads != nil,
            log.isValid("offline.threads")
        else { return }
        log.mistake(
            "offline.threads", "has no effect, because the clock is live",
            fix: "remove it, or add \"clock\": \"offline\"")
    }
}
