import CourierCore
import CourierTransport
import MQTTEngine
import Synchronization

extension MQTTClient {
    var metrics: ClientMetrics {
        let traffic = parts.coordinator.driver.traffic
        var metrics = ClientMetrics()
        parts.publishing.queue.fill(&metrics)
        metrics.receivedCount = traffic.messageCount
        metrics.droppedCount = parts.coordinator.distributor.droppedCount.load(ordering: .relaxed)
        metrics.connectionCount = traffic.connectionCount
        metrics.sentByteCount = traffic.sentByteCount
        metrics.receivedByteCount = traffic.receivedByteCount
        return metrics
    }

    var waiting: WaitingMessages {
        get async throws {
            try await parts.coordinator.waitForStoredCount(parts.waiterCount)
            return try await parts.publishing.waiting()
        }
    }
}
