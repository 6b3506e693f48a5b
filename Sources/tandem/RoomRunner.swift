import Events
import LibAV
import Logging
import MediaTypes
import Recording
import Room
import UnixSignals

/// Opens a room, runs it to its end and obeys the signals of an orchestrator meanwhile.
enum RoomRunner {
    /// - Parameters:
    ///   - write: Gets each event line.
    ///   - onReady: Called with the room once its listeners are about to open.
    static func run(
        _ settings: RoomSettings, write: @escaping @Sendable (String) -> Void,
        alongside: @escaping @Sendable (Room) async -> Void = { _ in }
    ) async -> ExitStatus {
        LibAV.limitHeaps()
        RoomProcess.ignoreBrokenPipes()
        let logger = Logger(label: "tandem")
        LibAV.setNativeLogging(logger.logLevel <= .debug)
        let webhooks: [Webhook]
        do {
            webhooks = try settings.pipeline.webhooks()
        } catch {
            StandardError.write("\(error)\n")
            return ExitStatus(error)
        }
        let directory = settings.pipeline.eventDirectory
        let events = RoomEvents(
            roomID: settings.pipeline.room.roomID, directory: directory,
            vocabularies: settings.pipeline.control.compat, write: write)
        let delivery = EventDelivery(
            webhooks, of: events.log, roomID: settings.pipeline.room.roomID, directory: directory
        ) { events.tell($0, $1) }
        delivery.begin(new: events.log.last)
        let status = await Self.run(settings, events, delivery, logger, alongside: alongside)
        events.close()
        await delivery.finish(within: Self.deliveryTime)
        return status
    }

    /// Time webhooks have, once the room is over, to take what they have not.
    private static let deliveryTime = Duration.seconds(5)

    private static func run(
        _ settings: RoomSettings, _ events: RoomEvents, _ delivery: EventDelivery, _ logger: Logger,
        alongside: @escaping @Sendable (Room) async -> Void
    ) async -> ExitStatus {
        if let recording = RecordingSettings(settings.pipeline), RecordingFinisher(recording).isDue {
            // A worker was stopped after the room's end: what it owes is made, and nothing else is left to do.
            if let error = RecordingReport(recording, events: events).finish() {
                StandardError.write("\(error)\n")
                return ExitStatus(error)
            }
            events.emit("room.closed", ["outcome": "ended"])
            return .roomOver
        }
        let room: Room
        do {
            room = try Room.open(settings, events: events, delivery: delivery, logger: logger)
        } catch {
            StandardError.write("\(error)\n")
            return ExitStatus(error)
        }
        let outcome = await withTaskGroup(of: RoomOutcome?.self) { group in
            group.addTask { await room.run() }
            group.addTask {
                await self.obeySignals(room)
                return nil
            }
            group.addTask {
                await alongside(room)
                return nil
            }
            group.addTask {
                await ServiceNotifier.open()?.follow(room)
                return nil
            }
            var outcome: RoomOutcome?
            while outcome == nil, let next = await group.next() { outcome = next }
            group.cancelAll()
            return outcome ?? .ended
        }
        switch outcome {
        case .ended:
            guard let debt = room.debt else { return .roomOver }
            StandardError.write("\(debt)\n")
            return ExitStatus(debt)
        case .drained, .superseded: return .drained
        case .failed(let error):
            StandardError.write("\(error)\n")
            return ExitStatus(error)
        }
    }

    /// SIGINT once ends the room, twice aborts; SIGTERM drains; SIGHUP takes new certificates and stream keys at once.
    private static func obeySignals(_ room: Room) async {
        var interrupts = 0
        for await signal in await UnixSignalsSequence(trapping: .sigint, .sigterm, .sighup) {
            if signal == .sighup {
                room.reloadCertificates()
                room.reloadKeys()
            } else if signal == .sigterm {
                room.drain(reason: "SIGTERM")
            } else {
                interrupts += 1
                if interrupts > 1 { RoomProcess.exit(.interruptedTwice) }
                room.end(reason: "SIGINT")
            }
        }
    }
}
