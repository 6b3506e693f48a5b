/// Checks of event messages (`emsg`): each must be in the segment that contains its time or, if it is late, up to one
/// target duration after it; only once per rendition; and the same in all video renditions. Spec: ISO/IEC 23009-1
/// §5.10.3.3, ISO/IEC 23000-19 §7.4.5.
extension Linter {
    /// Number of stored events per rendition from which on those that are 256 segments old or older are removed. Events
    /// are stored to detect repeats.
    private static let rememberedEvents = 4_096

    mutating func checkEvents(_ digest: MediaDigest, _ index: Int, _ number: Int64) {
        guard !digest.events.isEmpty, let span = digest.main else { return }
        let target = self.histories[index].list?.targetDuration ?? 0
        let end = span.startTime &+ span.duration
        for event in digest.events {
            // A late event may be in the segment after the one that contains its time.
            if event.time >= end || event.time < span.startTime &- target {
                self.add(
                    .eventBroken,
                    "\(event.name) is \(Self.seconds(event.time &- span.startTime)) after the segment's start",
                    index,
                    segment: number)
            }
            let key = "\(event.scheme) \(event.id)"
            if let other = self.histories[index].events[key], other != number {
                self.add(.eventRepeated, "\(event.name) is also in segment \(other)", index, segment: number)
            }
            if self.histories[index].events.count >= Self.rememberedEvents {
                self.histories[index].events = self.histories[index].events.filter { $0.value &+ 256 > number }
            }
            self.histories[index].events[key] = number
        }
    }

    /// Checks that matching segments of video renditions have the same events.
    mutating func compareEvents(
        _ index: Int, _ number: Int64, _ mine: MediaDigest, with other: Int, _ theirs: MediaDigest
    ) {
        guard mine.main?.isVideo == true, theirs.main?.isVideo == true else { return }
        let difference = Set(mine.events).symmetricDifference(theirs.events)
        guard let event = difference.min(by: { $0.id < $1.id }) else { return }
        self.add(
            .eventsDiffer,
            "\(event.name) differs in \(self.histories[other].name) (\(mine.events.count) events here, "
                + "\(theirs.events.count) there)", index, segment: number)
    }
}
