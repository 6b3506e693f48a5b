import Events
import Logging
import MediaTypes
import NIOPosix
import PipelineSpec
import RoomAPI
import TLSFiles
import Threading

/// Opens the TLS certificates of the room's listeners, checks their files every second, and reports changes.
struct ListenerCertificates: Sendable {
    let wall: any WallClock
    let events: RoomEvents
    let logger: Logger

    /// Opens the certificate of a listener, and checks its files for changes from then on.
    ///
    /// - Parameter place: Name of the listener in events and errors, such as `viewer`.
    /// - Throws: The errors of ``CertificatePair/load(_:place:)``.
    func open(_ settings: TLSSettings, place: String) throws(MediaError) -> CertificateWatch {
        let store = try CertificateStore(CertificateFiles(settings), place: place)
        self.warn(of: store, place)
        return CertificateWatch(store, on: MultiThreadedEventLoopGroup.singleton.any()) { look in
            self.report(look, store, place)
        }
    }

    private func report(_ look: CertificateStore.CheckResult, _ store: CertificateStore, _ place: String) {
        switch look {
        case .unchanged: break
        case .renewed(let validUntil):
            self.logger.info("new certificate", metadata: ["listener": "\(place)", "validUntil": "\(validUntil)"])
            self.events.emit(
                "tls.renewed", ["listener": .string(place), "validUntil": .string(CertificateAlarm.date(validUntil))])
            self.warn(of: store, place)
        case .refused(let error):
            self.logger.warning("the new certificate was refused; the old one stays", metadata: ["error": "\(error)"])
            self.events.emit(
                "tls.refused",
                [
                    "listener": .string(place), "reason": .string(error.what), "fix": .string(error.fix),
                    "validUntil": .string(CertificateAlarm.date(store.current.validUntil)),
                ])
        }
    }

    private func warn(of store: CertificateStore, _ place: String) {
        guard let problem = store.current.timeProblem(now: self.wall.now() / TimeMath.nanoseconds) else { return }
        self.logger.warning(
            "clients will refuse the certificate", metadata: ["listener": "\(place)", "reason": "\(problem)"])
    }

    /// The alarms of the certificates that have expired, are not valid yet, or expire soon.
    func alarms(of stores: [CertificateStore]) -> [RoomAlarm] {
        let now = self.wall.now() / TimeMath.nanoseconds
        return stores.compactMap { store in
            let pair = store.current
            return CertificateAlarm.of(
                store.place, validFrom: pair.validFrom, validUntil: pair.validUntil, now: now)
        }
    }
}

extension CertificateFiles {
    init(_ settings: TLSSettings) { self.init(certificate: settings.certificate, key: settings.key) }
}
