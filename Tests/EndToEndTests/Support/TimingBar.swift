import Testing

/// Decides whether a missed real-time limit counts.
///
/// A real-time limit holds only on a machine that keeps time. If the machine was stopped during the test, a missed
/// limit is excused: it is printed, and `.ci/tests` counts it. Nothing but a timing limit is ever excused.
enum TimingBar {
    /// The result for one limit.
    enum Verdict: Equatable {
        case met
        /// Missed on a machine that did not keep time.
        case excused
        case failed
    }

    /// - Parameter steadiness: Of the machine since the test started; nil without a measurement, which excuses nothing.
    static func verdict(isMet: Bool, _ steadiness: Steadiness?) -> Verdict {
        if isMet { return .met }
        return steadiness?.isSteady == false ? .excused : .failed
    }

    /// Records a result. Called by ``expectTiming(_:atMost:_:sourceLocation:)`` and its siblings.
    fileprivate static func record(
        _ isMet: Bool, _ figures: @autoclosure () -> String, _ sourceLocation: SourceLocation
    ) {
        let steadiness = isMet ? nil : SteadyMachineTrait.measurement?.steadiness
        switch self.verdict(isMet: isMet, steadiness) {
        case .met: return
        case .excused:
            let place = "\(sourceLocation.fileName):\(sourceLocation.line)"
            EndToEnd.printLine(
                "EXCUSED [\(place)] \(figures()); the machine was suspended: \(steadiness?.figures ?? "")")
        case .failed:
            Issue.record(
                "timing: \(figures()); the machine was steady: \(steadiness?.figures ?? "not measured")",
                sourceLocation: sourceLocation)
        }
    }
}

/// Expects a value measured in real time to be at most `bar`. Only this expectation and its siblings are excused if the
/// machine was stopped; see ``TimingBar``.
func expectTiming<Value: Comparable>(
    _ measured: Value, atMost bar: Value, _ what: @autoclosure () -> String,
    sourceLocation: SourceLocation = #_sourceLocation
) {
    TimingBar.record(measured <= bar, "\(what()): \(measured), at most \(bar)", sourceLocation)
}

/// Expects a value measured in real time to be at least `bar`; see ``TimingBar``.
func expectTiming<Value: Comparable>(
    _ measured: Value, atLeast bar: Value, _ what: @autoclosure () -> String,
    sourceLocation: SourceLocation = #_sourceLocation
) {
    TimingBar.record(measured >= bar, "\(what()): \(measured), at least \(bar)", sourceLocation)
}

/// Expects a value measured in real time to lie in `range`; see ``TimingBar``.
func expectTiming<Value: Comparable>(
    _ measured: Value, in range: ClosedRange<Value>, _ what: @autoclosure () -> String,
    sourceLocation: SourceLocation = #_sourceLocation
) {
    TimingBar.record(range.contains(measured), "\(what()): \(measured), in \(range)", sourceLocation)
}

/// Expects that no frame of a room was lost, and none late unless `isLateAllowed`; see ``TimingBar``.
///
/// - Parameter ticks: The room's own counts, from its state or its summary.
func expectOnTime(
    _ ticks: [String: Any], isLateAllowed: Bool = false, sourceLocation: SourceLocation = #_sourceLocation
) {
    for name in isLateAllowed ? ["lost"] : ["late", "lost"] {
        guard let count = ticks[name] as? Int else {
            Issue.record("the room counts no \(name) frames: \(ticks)", sourceLocation: sourceLocation)
            continue
        }
        expectTiming(count, atMost: 0, "\(name) frames", sourceLocation: sourceLocation)
    }
}

extension PlayerReport {
    /// Expects that the player never waited for media after its start; see ``TimingBar``.
    func expectNoStall(_ name: String, sourceLocation: SourceLocation = #_sourceLocation) {
        expectTiming(self.stalls.count, atMost: 0, "stalls of \(name) \(self.waits)", sourceLocation: sourceLocation)
    }
}
