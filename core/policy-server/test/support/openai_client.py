"""Plays every kind of request with the official package, and prints what it received as JSON.

python openai_client.py BASE_URL API_KEY
"""

import json
import sys

import openai

base_url, api_key = sys.argv[1:]
client = openai.OpenAI(base_url=base_url, api_key=api_key, max_retries=0)
messages = [{"role": "user", "content": "Hello"}]
parameters = {"type": "object", "properties": {"city": {"type": "string"}}}
tools = [{"type": "function", "function": {"name": "weather", "description": "Weather", "parameters": parameters}}]


def chat(**options):
    return client.chat.completions.create(**{"model": "writer", "messages": messages, **options})


def ended(completion):
    return [completion.choices[0].message.content, completion.choices[0].finish_reason]


def error_of(**options):
    try:
        chat(**options)
    except openai.APIStatusError as error:
        return error
    raise AssertionError("The request did not fail.")


found = {"models": [model.id for model in client.models.list().data]}
two = chat(n=2, seed=4, temperature=0.5, top_p=0.9, logprobs=True, extra_body={"top_k": 20, "return_token_ids": True})
found["contents"] = [choice.message.content for choice in two.choices]
found["first_logprob"] = two.choices[0].logprobs.content[0].logprob
found["token_ids"] = two.choices[0].token_ids
found["cut"] = ended(chat(stop=" and", max_completion_tokens=100))
found["limited"] = ended(chat(max_tokens=4))
events = list(chat(stream=True, stream_options={"include_usage": True}))
text = "".join(event.choices[0].delta.content or "" for event in events if event.choices)
found["streamed"] = [text, events[-1].usage.completion_tokens]
choice = chat(model="caller", tools=tools, tool_choice="auto").choices[0]
function = choice.message.tool_calls[0].function
found["call"] = [choice.finish_reason, function.name, function.arguments]
found["without_calls"] = chat(model="caller", tools=tools, tool_choice="none").choices[0].message.tool_calls
completed = client.completions.create(model="writer", prompt="Hi", max_tokens=99, logprobs=0, stop="bye").choices[0]
found["completed"] = [completed.text, len(completed.logprobs.token_logprobs)]
unsupported = error_of(frequency_penalty=1)
found["unsupported"] = [unsupported.status_code, unsupported.code, unsupported.param]
too_long = error_of(messages=[{"role": "user", "content": "x" * 10_000}])
found["too_long"] = [too_long.status_code, too_long.code]
try:
    openai.OpenAI(base_url=base_url, api_key="wrong", max_retries=0).models.list()
except openai.AuthenticationError as error:
    found["unauthorized"] = error.status_code
print(json.dumps(found))
