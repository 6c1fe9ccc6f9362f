package import CommandArguments
import CourierCore
import CourierMQTT

/// The command `courier rr`: sends a request and prints the response, as mosquitto_rr does.
package struct RequestCommand: CourierCommand {
    package init() {}

    package var helpExitCode: Int32 { ExitCode.failure }

    package var summary: CommandSummary {
        CommandSummary(
            name: "rr", abstract: "send a request and print the response",
            usage: [
                "[-h HOST] [-p PORT] -t TOPIC -e RESPONSE-TOPIC (-m TEXT | -f FILE | -s | -n) [OPTIONS]",
                "-L URL -e RESPONSE-TOPIC (-m TEXT | …) [OPTIONS]",
            ],
            discussion: [
                "rr subscribes to the response topic, and publishes a request that names this topic (MQTT 5). "
                    + "rr prints the first message that arrives, and ends.",
                "The options are the same as in mosquitto_rr, and can also be in a file, one option per line. "
                    + "The file is $XDG_CONFIG_HOME/mosquitto_rr or ~/.config/mosquitto_rr.",
            ],
            groups: RequestArguments.groups.map(\.summary),
            examples: [
                .init(
                    "courier rr -t lamp/7/get -e lamp/7/answer -n -W 5",
                    "Sends a request to a lamp, and waits five seconds for the response."),
                .init(
                    "courier rr -t sum -e responses/desk -m '[1,2]' -D publish correlation-data 7 -F '%D %p'",
                    "Sends a request with correlation data, and prints it with the response."),
            ], exitCodes: ExitCode.meanings)
    }

    package func run(_ arguments: [String], _ console: Console) throws -> Int32 {
        var settings = RequestArguments()
        try PublishCommand.read(
            arguments, ArgumentReader(RequestArguments.groups), into: &settings, \.connection, console)
        if settings.connection.isQuiet { console.beQuiet() }
        try settings.connection.checkUsage()
        try settings.connection.checkProperties()
        guard let topic = settings.connection.topics.last, let source = settings.payload.source,
            let answerTopic = settings.responseTopic
        else { throw ArgumentError("All of topic, message, and response topic must be supplied.") }
        guard settings.connection.properties.publish.responseTopic == nil else {
            console.tell("Error in PUBLISH properties: Duplicate response topic.")
            return ExitCode.failure
        }
        try settings.connection.checkStart()
        try settings.connection.checkSetup()
        // If retained messages are ignored, the subscription also asks the broker not to send them.
        if settings.output.ignoresRetained { settings.connection.subscriptionOptions.retainedMessages = .never }
        let schema = try ProtobufSchema(file: settings.output.protoFile, type: settings.output.protoType)
        guard case .bytes(let question) = try Payload(source, console) else { return ExitCode.failure }
        let encoded = try schema?.payload(fromJSON: question) ?? question
        return try RequestRun(settings, topic, answerTopic, encoded, schema, console).run()
    }
}
